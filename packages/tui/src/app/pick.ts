// A choice before the program itself is open.
import type { Display } from "../terminal/index.ts";
import { colorDepth, cutLine, type Line, openPainter, span } from "../text/index.ts";
import { type Entry, pickerView } from "./picker.ts";
import type { TuiOptions } from "./state.ts";

export interface Choice<Value> {
  title: string;
  entries: Entry<Value>[];
  /** What it is about, above the list; cut where the terminal is too low. */
  body?(columns: number): Line[];
}

/** Null where the user chose none. Keys that were pressed before it is shown choose nothing. */
export type Choose = <Value>(choice: Choice<Value>) => Promise<Value | null>;

export function openChooser(display: Display, { variables, signal }: Pick<TuiOptions, "variables" | "signal">): Choose {
  const painter = openPainter({ depth: colorDepth(variables), theme: "terminal", links: false });
  const { screen, size } = display;
  return ({ title, entries, body = () => [] }) =>
    new Promise((resolve) => {
      const view = pickerView({ title, entries, choose: resolve, dismiss: () => resolve(null) });
      const draw = () => {
        const list = view.rows(size.columns, Math.min(20, size.rows - 1));
        const whole = body(size.columns - 1);
        const room = Math.max(0, size.rows - 3 - list.length);
        const more = `… ${whole.length - room} more lines`;
        const shown = whole.length > room ? [...whole.slice(0, room), [span(more, { dim: true })]] : whole;
        const rows = [...shown, ...list].map((row) => painter.row(cutLine(row, size.columns - 1)));
        screen.draw({ committed: [], live: rows, cursor: { row: shown.length, column: 0 } });
      };
      display.use({
        onInput(input) {
          if (input.kind === "key" && input.ctrl && input.name === "c") resolve(null);
          else if (!view.input(input)) draw();
        },
        onResize: draw,
      });
      signal.addEventListener("abort", () => resolve(null), { once: true });
      draw();
    });
}
