// Collects the output of a build and stores it in pieces, a few times a second.
import type { Kysely } from "kysely";
import type { Tables } from "../../foundation/index.ts";
import { appendLog, type LogTarget } from "./log.ts";

export interface LogWriter {
  write(text: string): void;
  /** Everything written is stored then. */
  close(): Promise<void>;
}

const intervalMs = 200;
const maxPieceLength = 64 * 1024;
const maxLength = 16 * 1024 * 1024;

export function openLogWriter(db: Kysely<Tables>, target: LogTarget): LogWriter {
  let waiting = "";
  let length = 0;
  let storing = Promise.resolve();
  let failure: unknown;
  const note = (error: unknown): void => {
    failure ??= error;
  };
  const store = (): void => {
    const pieces = cut(waiting);
    waiting = "";
    for (const piece of pieces) storing = storing.then(() => appendLog(db, target, piece)).catch(note);
  };
  const timer = setInterval(store, intervalMs);
  return {
    write(text) {
      if (length > maxLength) return;
      length += text.length;
      waiting +=
        length > maxLength
          ? `\n[The log is longer than ${maxLength / 1024 / 1024} MiB; the rest is left out.]\n`
          : text;
      if (waiting.length >= maxPieceLength) store();
    },
    async close() {
      clearInterval(timer);
      store();
      await storing;
      if (failure !== undefined) throw failure;
    },
  };
}

/** Not within a pair of surrogates. */
function cut(text: string): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = start + maxPieceLength;
    const isInsidePair = /[\ud800-\udbff]/.test(text[end - 1] ?? "");
    pieces.push(text.slice(start, isInsidePair ? end + 1 : end));
    start = isInsidePair ? end + 1 : end;
  }
  return pieces;
}
