// A choice before the program itself is open.
import { hasKeyProtocol, openScreen, openTerminal, outputOf } from "../terminal/index.ts";
import { colorDepth, openPainter } from "../text/index.ts";
import { type Entry, pickerView } from "./picker.ts";
import type { TuiOptions } from "./state.ts";

export function pickOnTerminal<Value>(
  options: TuiOptions,
  title: string,
  entries: Entry<Value>[],
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
      const rows = view.rows(size.columns, Math.min(20, size.rows - 1)).map(painter.row);
      screen.draw({ committed: [], live: rows, cursor: { row: 0, column: 0 } });
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
