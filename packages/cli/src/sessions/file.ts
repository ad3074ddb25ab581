// One session file under one writer: whole lines in order, on disk when asked, never torn for a reader.
import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { StaleWriter } from "@agentcli/engine";
import { type Lock, type LockAttempt, takeLock } from "../lock.ts";
import { makePrivateDirectory } from "../private-directory.ts";
import { Problem } from "../problem.ts";

export interface SessionFile {
  readonly path: string;
  append(text: string): void;
  /** Settles when everything appended is on disk. */
  sync(): void;
  close(): void;
}

/** Takes the writer's lock; a last line cut short by a crash is removed, as it was never acknowledged. */
export function openSessionFile(path: string, threadId: string): SessionFile {
  const attempt = claimLock(path);
  if (attempt.kind === "busy") throw new StaleWriter(threadId, `process ${attempt.pid}`);
  try {
    return openLocked(path, threadId, attempt.lock);
  } catch (error) {
    attempt.lock.release();
    throw notKept(path, error);
  }
}

function claimLock(path: string): LockAttempt {
  try {
    makePrivateDirectory(dirname(path));
    return takeLock(`${path}.lock`);
  } catch (error) {
    throw notKept(path, error);
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
      try {
        for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
      } catch (error) {
        if (size === 0) rmSync(path, { force: true });
        throw notWritten(path, error);
      }
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

const notKept = (path: string, error: unknown): Problem =>
  new Problem(
    "usage",
    `The session cannot be kept as ${path}: ${(error as Error).message}. Set AGENT_HOME to a directory you can write, or keep no session with --ephemeral.`,
  );

/** What is there stays whole: the next to open it removes a last line cut short. */
const notWritten = (path: string, error: unknown): Problem =>
  new Problem(
    "failed",
    `The session file ${path} cannot be written: ${(error as Error).message}. Make room and resume, or keep no session with --ephemeral.`,
  );
