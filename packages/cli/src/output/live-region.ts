// Text that stays on a terminal, and rows below it that change: when they are drawn. How is the screen's business, which the
// terminal interface draws with too.
import type { WriteStream } from "node:tty";
import { terminalText } from "@agentcli/command-line";
import type { TerminalSize } from "@agentcli/surfaces/terminal";
import { openScreen } from "@agentcli/tui/live";

export interface LiveRegionOptions {
  terminal: Pick<WriteStream, "on">;
  draw(text: string): Promise<void>;
  /** Each shorter than the terminal is wide; none when nothing is under way. */
  rows(): string[];
  size(): TerminalSize;
}

export interface LiveRegion {
  /** Text that stays, above the live rows. */
  print(text: string): Promise<void>;
  /** At most twenty times a second. */
  redrawSoon(): void;
  /** Erases the live rows. */
  close(): Promise<void>;
}

const redrawMs = 50;
/** The elapsed time is shown in seconds. */
const tickMs = 1000;

export function openLiveRegion({ terminal, draw, rows, size }: LiveRegionOptions): LiveRegion {
  let soon: NodeJS.Timeout | undefined;
  let tick: NodeJS.Timeout | undefined;
  let drawn: Promise<void> = Promise.resolve();
  const screen = openScreen({
    write(text) {
      drawn = draw(text);
    },
    get columns() {
      return size().columns;
    },
    get rows() {
      return size().rows;
    },
  });
  const redraw = (text = ""): Promise<void> => {
    clearTimeout(soon);
    soon = undefined;
    const live = rows();
    if (live.length === 0) clearInterval(tick);
    tick = live.length === 0 ? undefined : (tick ?? setInterval(() => void redraw(), tickMs).unref());
    const committed = text === "" ? [] : terminalText(text).replace(/\n$/, "").split("\n");
    // Below the text that stays there is always a row for the cursor.
    screen.draw({
      committed,
      live: live.length === 0 ? [""] : live,
      cursor: { row: Math.max(0, live.length - 1), column: 0 },
    });
    return drawn;
  };
  terminal.on("resize", () => void redraw());
  // While the program was stopped, the shell has written below the live rows.
  process.on("SIGCONT", () => {
    screen.forget();
    void redraw();
  });
  process.once("exit", () => screen.end("erase"));
  return {
    print: redraw,
    redrawSoon() {
      soon ??= setTimeout(() => void redraw(), redrawMs).unref();
    },
    async close() {
      clearTimeout(soon);
      clearInterval(tick);
      screen.end("erase");
      await drawn;
    },
  };
}
