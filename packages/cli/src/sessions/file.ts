// One session file under one writer: whole lines in order, on disk when asked, never torn for a reader.
import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { StaleWriter } from "@agentcli/engine";
import { type Lock, takeLock } from "./lock.ts";

export interface SessionFile {
  readonly path: string;
  append(text: string): void;
  /** Settles when everything appended is on disk. */
  sync(): void;
  close(): void;
}

/** Takes the writer's lock; a last line cut short by a crash is removed, as it was never acknowledged. */
export function openSessionFile(path: string, threadId: string): SessionFile {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const attempt = takeLock(`${path}.lock`);
  if (attempt.kind === "busy") throw new StaleWriter(threadId, `process ${attempt.pid}`);
  try {
    return openLocked(path, threadId, attempt.lock);
  } catch (error) {
    attempt.lock.release();
    throw error;
  }
}

function openLocked(path: string, threadId: string, lock: Lock): SessionFile {
  const file = openSync(path, "a+", 0o600);
  let size = wholeLinesLength(file);
  if (size < fstatSync(file).size) ftruncateSync(file, size);
  return {
    path,
    append(text) {
      if (fstatSync(file).size !== size) throw new StaleWriter(threadId, "the file grew behind our back");
      const bytes = Buffer.from(text, "utf8");
      for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
      size += bytes.length;
    },
    sync: () => fdatasyncSync(file),
    close() {
      closeSync(file);
      lock.release();
    },
  };
}

/** Length up to and with the last line end. */
function wholeLinesLength(file: number): number {
  const { size } = fstatSync(file);
  const block = Buffer.alloc(64 * 1024);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - block.length);
    const length = readSync(file, block, 0, end - start, start);
    const newline = block.subarray(0, length).lastIndexOf(0x0a);
    if (newline !== -1) return start + newline + 1;
    end = start;
  }
  return 0;
}
