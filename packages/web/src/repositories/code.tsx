// A text file with line numbers and colours. Blocks far from the window are not laid out; a long file shows the rest on request.
import { useLocation } from "@tanstack/react-router";
import { memo, useEffect, useMemo, useState } from "react";
import { Button } from "../components/controls.tsx";
import { familyOf, highlight, type Token } from "../text/highlight.ts";

const blockLines = 100;
const firstLines = 5_000;
/** A longer text would take the page's time for its colours. */
const maxColoured = 300_000;

export const CodeView = memo(({ text, path }: { text: string; path: string }) => {
  const lines = useMemo(
    () => highlight(text.replace(/\n$/, ""), text.length > maxColoured ? null : familyOf(path)),
    [text, path],
  );
  const { hash } = useLocation();
  const chosen = Number(/^L(\d{1,7})$/.exec(hash)?.[1] ?? 0);
  const [isWhole, setWhole] = useState(chosen > firstLines);
  const shown = isWhole ? lines : lines.slice(0, firstLines);
  useEffect(() => {
    if (chosen > 0) document.getElementById(`L${chosen}`)?.scrollIntoView({ block: "center" });
  }, [chosen]);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard needs a way in. */}
      <section className="code-view" aria-label={`Text of ${path}`} tabIndex={0}>
        {Array.from({ length: Math.ceil(shown.length / blockLines) }, (_, index) => (
          <CodeBlock
            // biome-ignore lint/suspicious/noArrayIndexKey: blocks are parts in a text.
            key={index}
            lines={shown}
            from={index * blockLines}
            chosen={chosen}
          />
        ))}
      </section>
      {!isWhole && lines.length > firstLines && (
        <p className="file-large">
          {lines.length} lines. <Button onClick={() => setWhole(true)}>Show all</Button>
        </p>
      )}
    </>
  );
});

interface CodeBlockProps {
  lines: Token[][];
  from: number;
  chosen: number;
}

const CodeBlock = memo(({ lines, from, chosen }: CodeBlockProps) => (
  <div className="code-block">
    {lines.slice(from, from + blockLines).map((tokens, index) => {
      const number = from + index + 1;
      return (
        <div key={number} id={`L${number}`} className={number === chosen ? "code-line is-chosen" : "code-line"}>
          {/* Not in the order of Tab: there is one for each line. */}
          <a className="code-number" href={`#L${number}`} tabIndex={-1}>
            {number}
          </a>
          <code className="code-text">{tokens.map(renderToken)}</code>
        </div>
      );
    })}
  </div>
));

const renderToken = ({ kind, text }: Token, index: number) =>
  kind === "plain" ? (
    text
  ) : (
    <span key={index} className={`code-${kind}`}>
      {text}
    </span>
  );
