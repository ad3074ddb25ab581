// The modes of the terminal while the program runs, and their restoration however it ends.

import { StringDecoder } from "node:string_decoder";
import type { ReadStream, WriteStream } from "node:tty";
import { type Guard, openGuard } from "./guard.ts";
import { type Input, openKeyReader } from "./keys.ts";

export interface TerminalStreams {
  input: ReadStream;
  output: WriteStream & { fd: number };
}

export interface Terminal {
  /** Gives the terminal to another program, until `resume`. */
  suspend(): void;
  resume(): void;
  close(): void;
}

export interface TerminalOptions extends TerminalStreams {
  /** The terminal reports keys unambiguously when asked to. */
  hasKeyProtocol: boolean;
  onInput(input: Input): void;
  onResize(): void;
}

/** How long the rest of a sequence may take over a slow connection. */
const escapeMs = 60;

export function openTerminal({ input, output, hasKeyProtocol, onInput, onResize }: TerminalOptions): Terminal {
  const decoder = new StringDecoder("utf8");
  const keys = openKeyReader(onInput);
  let timer: NodeJS.Timeout | undefined;
  let isOpen = false;
  const read = (bytes: Buffer) => {
    clearTimeout(timer);
    keys.push(decoder.write(bytes));
    if (keys.isWaiting()) timer = setTimeout(keys.flush, escapeMs);
  };
  const restore = () => {
    if (!isOpen) return;
    isOpen = false;
    clearTimeout(timer);
    input.off("data", read);
    output.off("resize", onResize);
    output.write(leave(hasKeyProtocol));
    if (!input.destroyed) input.setRawMode(false);
    input.pause();
  };
  const enter = () => {
    isOpen = true;
    input.setRawMode(true);
    input.on("data", read);
    output.on("resize", onResize);
    input.resume();
    output.write(`\u001b[?2004h${hasKeyProtocol ? "\u001b[>1u" : ""}`);
  };
  enter();
  // After the first paint: starting it takes milliseconds.
  let guard: Guard | null = null;
  const starting = setImmediate(() => {
    guard = openGuard(output, leave(hasKeyProtocol).replaceAll("\u001b", "\\033"));
  });
  const end = () => {
    restore();
    clearImmediate(starting);
    guard?.release();
  };
  const quit = () => {
    end();
    process.kill(process.pid, "SIGQUIT");
  };
  process.once("exit", end);
  process.once("SIGQUIT", quit);
  return {
    suspend: restore,
    resume: enter,
    close() {
      end();
      process.off("exit", end);
      process.off("SIGQUIT", quit);
    },
  };
}

/** Bracketed paste and key reports off, cursor visible, no colours. */
const leave = (hasKeyProtocol: boolean): string =>
  `${hasKeyProtocol ? "\u001b[<u" : ""}\u001b[?2004l\u001b[?25h\u001b[0m`;

/** Others would take the request for something else: old ones move the cursor. */
export const hasKeyProtocol = ({ TERM = "", TERM_PROGRAM = "", TMUX }: Record<string, string | undefined>): boolean =>
  TMUX === undefined &&
  (/kitty|ghostty|foot/.test(TERM) || /^(?:WezTerm|ghostty|iTerm\.app|vscode)$/.test(TERM_PROGRAM));
