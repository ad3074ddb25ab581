// A choice before the program itself is open.
import { hasKeyProtocol, openScreen, openTerminal, outputOf } from "../terminal/index.ts";
import { colorDepth, type Line, openPainter, span } from "../text/index.ts";
import { type Entry, pickerView } from "./picker.ts";
import type { TuiOptions } from "./state.ts";

export interface Choice<Value> {
  title: string;
  entries: Entry<Value>[];
  /** What it is about, above the list; cut where the terminal is too low. */
  body?(columns: number): Line[];
}

/** Null where the user chose none. */
export function pickOnTerminal<Value>(
  options: TuiOptions,
  { title, entries, body = () => [] }: Choice<Value>,
): Promise<Value | null> {
  const { streams, variables, signal } = options;
  const { output } = streams;
  const painter = openPainter({ depth: colorDepth(variables), theme: "terminal", links: false });
  const size = outputOf(output);
  const screen = openScreen(size);
  return new Promise((resolve) => {
    const finish = (value: Value | null) => {
      screen.end("erase");
      terminal.close();
      resolve(value);
    };
    const view = pickerView({ title, entries, choose: finish, dismiss: () => finish(null) });
    const draw = () => {
      const list = view.rows(size.columns, Math.min(20, size.rows - 1));
      const whole = body(size.columns - 1);
      const room = Math.max(0, size.rows - 3 - list.length);
      const more = `… ${whole.length - room} more lines`;
      const shown = whole.length > room ? [...whole.slice(0, room), [span(more, { dim: true })]] : whole;
      const rows = [...shown, ...list].map(painter.row);
      screen.draw({ committed: [], live: rows, cursor: { row: shown.length, column: 0 } });
    };
    const terminal = openTerminal({
      ...streams,
      hasKeyProtocol: hasKeyProtocol(variables),
      onInput(input) {
        if (input.kind === "key" && input.ctrl && input.name === "c") finish(null);
        else if (!view.input(input)) draw();
      },
      onResize: draw,
    });
    signal.addEventListener("abort", () => finish(null), { once: true });
    draw();
  });
}
