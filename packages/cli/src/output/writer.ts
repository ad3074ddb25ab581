// Writes to a standard stream without losing bytes: waits for slow readers, notices when they are gone.
import type { Writable } from "node:stream";

export interface Writer {
  /** Settles when there is room for more; a slow reader slows the run, nothing is dropped. */
  write(text: string): Promise<void>;
  /** Settles when everything written has been handed over, or the reader is gone. */
  flush(): Promise<void>;
  readonly gone: boolean;
  readonly terminal: boolean;
}

const roomBytes = 1024 * 1024;

export function openWriter(stream: Writable & { isTTY?: boolean }, onGone: () => void): Writer {
  let gone = false;
  let last: Promise<void> = Promise.resolve();
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (gone) return;
    gone = true;
    if (error.code === "EPIPE") onGone();
  });
  return {
    get gone() {
      return gone;
    },
    terminal: stream.isTTY === true,
    async write(text) {
      if (gone || text === "") return;
      last = new Promise((resolve) => stream.write(text, () => resolve()));
      if (stream.writableLength > roomBytes) await last;
    },
    flush: () => (gone ? Promise.resolve() : last),
  };
}
