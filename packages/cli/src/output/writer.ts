// Writes to a standard stream without losing bytes: waits for slow readers, notices when they are gone. On a terminal,
// control characters are shown instead of obeyed.
import type { Writable } from "node:stream";
import { terminalText } from "@agentcli/command-line";

export interface Writer {
  /** Settles when there is room for more; a slow reader slows the run, nothing is dropped. */
  write(text: string | Buffer): Promise<void>;
  /** The same for text in which control characters are the program's own; the rest has been made harmless. */
  draw(text: string): Promise<void>;
  /** Settles when everything written has been handed over, or that has become impossible. */
  flush(): Promise<void>;
  readonly gone: boolean;
  readonly terminal: boolean;
}

const roomBytes = 1024 * 1024;

/** `onGone` receives why nothing more can be written: EPIPE for a reader that left. */
export function openWriter(
  stream: Writable & { isTTY?: boolean },
  onGone: (error: NodeJS.ErrnoException) => void,
): Writer {
  let gone = false;
  let last: Promise<void> = Promise.resolve();
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (gone) return;
    gone = true;
    onGone(error);
  });
  const send = async (text: string | Buffer): Promise<void> => {
    if (gone || text.length === 0) return;
    last = new Promise((resolve) => stream.write(text, () => resolve()));
    if (stream.writableLength > roomBytes) await last;
  };
  return {
    get gone() {
      return gone;
    },
    terminal: stream.isTTY === true,
    write: (text) => send(stream.isTTY ? terminalText(text.toString()) : text),
    draw: send,
    flush: () => (gone ? Promise.resolve() : last),
  };
}
