// Lines at the end of a terminal that are drawn again at every change, each time in one write. Nothing above them is
// touched: they are erased from the cursor on, and the scrollback is never cleared.
import type { WriteStream } from "node:tty";
import { terminalText } from "@agentcli/command-line";
import { type TerminalSize, widthOf } from "@agentcli/surfaces/terminal";

export interface LiveRegionOptions {
  terminal: Pick<WriteStream, "on" | "write">;
  draw(text: string): Promise<void>;
  lines(): string[];
  size(): TerminalSize;
}

export interface LiveRegion {
  /** Text that stays, above the live lines. */
  print(text: string): Promise<void>;
  /** At most twenty times a second. */
  redrawSoon(): void;
  /** Erases the live lines. */
  close(): Promise<void>;
}

const redrawMs = 50;
/** The elapsed time is shown in seconds. */
const tickMs = 1000;

export function openLiveRegion({ terminal, draw, lines, size }: LiveRegionOptions): LiveRegion {
  let drawn: string[] = [];
  let soon: NodeJS.Timeout | undefined;
  let tick: NodeJS.Timeout | undefined;
  const replace = async (text: string, next: string[]): Promise<void> => {
    const erased = erase(drawn, size().columns);
    if (text === "" && next.join("\n") === drawn.join("\n")) return;
    drawn = next;
    await draw(`${synchronized.begin}${erased}${terminalText(text)}${next.join("\n")}${synchronized.end}`);
  };
  const redraw = (text = ""): Promise<void> => {
    clearTimeout(soon);
    soon = undefined;
    const next = lines();
    if (next.length === 0) clearInterval(tick);
    tick = next.length === 0 ? undefined : (tick ?? setInterval(() => void redraw(), tickMs).unref());
    return replace(text, next);
  };
  terminal.on("resize", () => void redraw());
  // While the program was stopped, the shell has written below the live lines.
  process.on("SIGCONT", () => {
    drawn = [];
    void redraw();
  });
  process.once("exit", () => void (drawn.length > 0 && terminal.write(erase(drawn, size().columns))));
  return {
    print: redraw,
    redrawSoon() {
      soon ??= setTimeout(() => void redraw(), redrawMs).unref();
    },
    async close() {
      clearTimeout(soon);
      clearInterval(tick);
      await replace("", []);
    },
  };
}

/** Terminals that do not know it ignore it. */
const synchronized = { begin: "\u001b[?2026h", end: "\u001b[?2026l" };

/** A terminal that became narrower has wrapped the lines. */
function erase(lines: string[], columns: number): string {
  if (lines.length === 0) return "";
  const rows = lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(withoutColours(line)) / columns)), 0);
  return `\r${rows > 1 ? `\u001b[${rows - 1}A` : ""}\u001b[J`;
}

const withoutColours = (line: string): string => line.replace(/\u001b\[\d+m/g, "");
