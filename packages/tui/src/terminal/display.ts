// The terminal and what is drawn on it, from the first paint to the end. One part of the program uses it at a time and gets the keys.
import type { Input } from "./keys.ts";
import { hasKeyProtocol, openTerminal, type TerminalStreams } from "./modes.ts";
import { type Output, openScreen, type Screen } from "./screen.ts";
import { openWriter, type TerminalWriter } from "./writer.ts";

export interface DisplayUser {
  onInput(input: Input): void;
  onResize(): void;
}

export interface Display {
  /** Of the terminal as it is now. */
  readonly size: Pick<Output, "columns" | "rows">;
  readonly screen: Screen;
  readonly writer: TerminalWriter;
  /** Keys and resizes go there from now on. */
  use(user: DisplayUser): void;
  /** Gives the terminal to another program meanwhile. */
  lend<T>(work: () => T): T;
  /** Erases the live region and restores the terminal. */
  close(): void;
}

export function openDisplay(streams: TerminalStreams, variables: Record<string, string | undefined>): Display {
  const writer = openWriter(streams.output.fd);
  // A stream that does not know its size has the usual one.
  const size: Output = {
    write: writer.write,
    get columns() {
      return streams.output.columns || 80;
    },
    get rows() {
      return streams.output.rows || 24;
    },
  };
  const screen = openScreen(size);
  let current: DisplayUser = { onInput() {}, onResize() {} };
  const terminal = openTerminal({
    ...streams,
    hasKeyProtocol: hasKeyProtocol(variables),
    onInput: (input) => current.onInput(input),
    onResize: () => current.onResize(),
  });
  return {
    size,
    screen,
    writer,
    use(user) {
      current = user;
    },
    lend(work) {
      screen.end("erase");
      writer.flush();
      terminal.suspend();
      try {
        return work();
      } finally {
        terminal.resume();
        screen.forget();
      }
    },
    close() {
      screen.end("erase");
      writer.flush();
      terminal.close();
      writer.close();
    },
  };
}
