// A file of lines under one writer: whole lines in order, on disk when asked, never torn for a reader.
import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { StaleWriter } from "@agentcli/engine";
import { type Lock, type LockAttempt, takeLock } from "./lock.ts";
import { makePrivateDirectory } from "./private-directory.ts";

export interface LineFile {
  readonly path: string;
  append(text: string): void;
  /** Settles when everything appended is on disk. */
  sync(): void;
  close(): void;
}

/** `open`: the file cannot be created. `write`: earlier lines stay intact; the next open removes a torn last line. */
export class LineFileFault extends Error {
  override name = "LineFileFault";
  readonly attempted: "open" | "write";
  readonly path: string;

  constructor(attempted: "open" | "write", path: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.attempted = attempted;
    this.path = path;
  }
}

/**
 * Acquires the writer's lock or throws StaleWriter for the owner of the lines. A last line cut short by a crash is
 * removed: it was never acknowledged.
 */
export function openLineFile(path: string, owner: string): LineFile {
  const attempt = claimLock(path);
  if (attempt.kind === "busy") throw new StaleWriter(owner, `process ${attempt.pid}`);
  try {
    return openLocked(path, owner, attempt.lock);
  } catch (error) {
    attempt.lock.release();
    throw new LineFileFault("open", path, error);
  }
}

function claimLock(path: string): LockAttempt {
  try {
    makePrivateDirectory(dirname(path));
    return takeLock(`${path}.lock`);
  } catch (error) {
    throw new LineFileFault("open", path, error);
  }
}

/** As "a+", but never through a link. */
const openFlags = constants.O_APPEND | constants.O_CREAT | constants.O_RDWR | constants.O_NOFOLLOW;

function openLocked(path: string, owner: string, lock: Lock): LineFile {
  const file = openSync(path, openFlags, 0o600);
  let size = wholeLinesLength(file);
  if (size < fstatSync(file).size) ftruncateSync(file, size);
  return {
    path,
    append(text) {
      if (fstatSync(file).size !== size) throw new StaleWriter(owner, "the file was changed by another process");
      try {
        size += writeText(file, text);
      } catch (error) {
        if (size === 0) rmSync(path, { force: true });
        throw new LineFileFault("write", path, error);
      }
    },
    sync: () => fdatasyncSync(file),
    close() {
      closeSync(file);
      lock.release();
    },
  };
}

/** A line of many megabytes is encoded part by part: memory for all of it costs more than encoding it. */
const maxPart = 1024 * 1024;

/** Returns the number of bytes. */
function writeText(file: number, text: string): number {
  if (text.length <= maxPart) return writeWhole(file, Buffer.from(text, "utf8"));
  const part = Buffer.allocUnsafeSlow(maxPart);
  const encoder = new TextEncoder();
  let size = 0;
  for (let at = 0; at < text.length; ) {
    // Half a character at the end of the slice is left for the next: it would need more bytes than there are.
    const { read, written } = encoder.encodeInto(text.slice(at, at + maxPart), part);
    size += writeWhole(file, part.subarray(0, written));
    at += read;
  }
  return size;
}

function writeWhole(file: number, bytes: Buffer): number {
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
  return bytes.length;
}

/** Length up to and including the last line end. */
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
