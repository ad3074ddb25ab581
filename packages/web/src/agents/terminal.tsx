// A terminal of an agent's machine, live: what it shows, and the keys of its reader.
import { type ClipboardEvent, type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { type FollowedScreen, followScreen } from "../api/follow-screen.ts";
import { request } from "../api/request.ts";
import { renderPiece } from "../components/colored-text.tsx";
import { Failure, Skeleton } from "../components/feedback.tsx";
import { readAnsi } from "../text/ansi.ts";
import { type Cursor, withCursor } from "../text/cursor.ts";
import { charactersOf } from "../text/terminal-keys.ts";
import { openTyping } from "./typing.ts";

export interface TerminalProps {
  path: string;
  name: string;
}

export function Terminal({ path, name }: TerminalProps) {
  const [{ screen, error }, setState] = useState<FollowedScreen>({ screen: null, error: null });
  useEffect(() => {
    const leaving = new AbortController();
    void followScreen(path, setState, leaving.signal);
    return () => leaving.abort();
  }, [path]);
  return (
    <section className="terminal" aria-label={`Terminal ${name}`}>
      {error !== null && <Failure error={error} />}
      {screen === null && error === null && <Skeleton lines={3} />}
      {screen !== null && <Screen text={screen.text} cursor={screen.cursor} />}
      {screen !== null &&
        (screen.isRunning ? <TypedKeys path={path} name={name} /> : <p className="soft">Its program has ended.</p>)}
    </section>
  );
}

function Screen({ text, cursor }: { text: string; cursor: Cursor | null }) {
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  const pieces = useMemo(() => {
    const read = readAnsi(text);
    return cursor === null ? read : withCursor(read, cursor);
  }, [text, cursor]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end moves with the text.
  useEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [pieces]);
  return (
    <div className="output">
      <pre
        ref={box}
        className="terminal-screen"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard needs a way in.
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 4;
        }}
      >
        {pieces.map(renderPiece)}
      </pre>
    </div>
  );
}

/** A field, so that phones show their keyboard and text can be pasted; what it takes is sent at once. */
function TypedKeys({ path, name }: TerminalProps) {
  const [error, setError] = useState<unknown>(null);
  const typing = useMemo(
    () =>
      openTyping(async (text) => {
        await request(`${path}/input`, { method: "POST", body: { text } });
        setError(null);
      }, setError),
    [path],
  );
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const characters = charactersOf(event);
    if (characters === null) return;
    event.preventDefault();
    event.stopPropagation();
    typing.type(characters);
  };
  const paste = (event: ClipboardEvent) => {
    event.preventDefault();
    typing.type(event.clipboardData.getData("text/plain").replaceAll("\r\n", "\n"));
  };
  return (
    <>
      <input
        className="input terminal-keys"
        aria-label={`Type into ${name}`}
        aria-describedby="terminal-keys-hint"
        placeholder="Type here"
        value=""
        autoCapitalize="off"
        autoComplete="off"
        spellCheck={false}
        onKeyDown={press}
        onPaste={paste}
        onChange={({ target }) => target.value !== "" && typing.type(target.value)}
      />
      <p id="terminal-keys-hint" className="field-hint">
        Keys go to the terminal as you press them; Shift Tab leaves it. That you typed is recorded in the audit log,
        what you typed is not.
      </p>
      {error !== null && <Failure error={error} />}
    </>
  );
}
