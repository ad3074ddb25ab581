// The first paint, before the server is loaded: the message can be written at once. What was typed is handed to the program when it
// is open, key by key, so that it means the same as it would have then.
import { composerRows, draftBuffer, edit, insert, insertPaste, isEmpty, openDraft } from "../composer/index.ts";
import type { Display, Input } from "../terminal/index.ts";
import { colorDepth, cutLine, openPainter, span } from "../text/index.ts";
import { greeting, placeholder, promptMark } from "./look.ts";
import type { TuiOptions } from "./state.ts";

export interface Start {
  /** In the order in which it was typed. */
  typed: Input[];
  /** Settles when the user does not want to wait. */
  quit: Promise<void>;
  /** After something else was on the display. */
  show(): void;
}

export function openStart(display: Display, options: TuiOptions): Start {
  const { screen, size } = display;
  const { row } = openPainter({ depth: colorDepth(options.variables), theme: "terminal", links: false });
  const typed: Input[] = [];
  const isNew = options.start.kind === "new";
  let buffer = draftBuffer(isNew ? openDraft(options.agentHome, options.overrides.cwd ?? "").read() : null);
  let quit = () => {};
  const quitting = new Promise<void>((resolve) => {
    quit = resolve;
  });
  const draw = () => {
    const head = [[], ...greeting(options.version, options.overrides.cwd ?? null, size.columns), []];
    const look = { columns: size.columns, maxRows: Math.max(1, size.rows - 7), placeholder, mark: [promptMark] };
    const composer = composerRows(buffer, look);
    const rows = [...head, ...composer.rows, [span("  starting…", { dim: true })]];
    const cursor = { ...composer.cursor, row: head.length + composer.cursor.row };
    screen.draw({ committed: [], live: rows.map((line) => row(cutLine(line, size.columns - 1))), cursor });
  };
  const onInput = (input: Input) => {
    if (isQuit(input, isEmpty(buffer))) return quit();
    typed.push(input);
    if (input.kind === "text") buffer = insert(buffer, input.text);
    else if (input.kind === "paste") buffer = insertPaste(buffer, input.text);
    else buffer = edit(buffer, input) ?? buffer;
    draw();
  };
  const show = () => {
    display.use({ onInput, onResize: draw });
    draw();
  };
  show();
  return { typed, quit: quitting, show };
}

/** Nothing is lost yet, so once is enough. */
const isQuit = (input: Input, isNothingWritten: boolean): boolean =>
  input.kind === "key" && input.ctrl && (input.name === "c" || (input.name === "d" && isNothingWritten));
