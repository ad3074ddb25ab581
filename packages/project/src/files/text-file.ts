// Reads the start of a text file. Never throws or blocks, whatever is at the path.
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, realpathSync, statSync } from "node:fs";
import { contains } from "./directories.ts";

export type TextFile =
  | { kind: "text"; text: string; isCut: boolean }
  /** There is no regular file. */
  | { kind: "missing" }
  | { kind: "problem"; message: string };

export interface ReadOptions {
  maxBytes: number;
  /** Links must stay inside this directory: a repository must not reach the user's files. Null: no restriction. */
  within: string | null;
}

export function readTextFile(path: string, { maxBytes, within }: ReadOptions): TextFile {
  let descriptor: number | undefined;
  try {
    if (!statSync(path).isFile()) return { kind: "missing" };
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const { size } = fstatSync(descriptor);
    if (within !== null && !contains(within, openedPath(descriptor, path)))
      return { kind: "problem", message: "it is a link that leads out of the project; it is not read" };
    return decode(readStart(descriptor, Math.min(maxBytes, size)), size > maxBytes);
  } catch (error) {
    return explain(error as NodeJS.ErrnoException);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** The path that was really opened: the name may point elsewhere by now. */
function openedPath(descriptor: number, path: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return realpathSync(path);
  }
}

function readStart(descriptor: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const bytes = readSync(descriptor, buffer, filled, length - filled, filled);
    if (bytes === 0) break;
    filled += bytes;
  }
  return buffer.subarray(0, filled);
}

function decode(bytes: Buffer, isCut: boolean): TextFile {
  if (bytes.includes(0)) return { kind: "problem", message: "it is not UTF-8 text; it is not read" };
  const whole = isCut ? bytes.subarray(0, endOfLastCharacter(bytes)) : bytes;
  // Not TextDecoder: making one costs more than reading the file.
  return { kind: "text", text: whole.toString("utf8").replace(/^\ufeff/, ""), isCut };
}

/** Without the first bytes of an incomplete character. */
function endOfLastCharacter(bytes: Buffer): number {
  const first = bytes.findLastIndex((byte) => (byte & 0xc0) !== 0x80);
  const lead = bytes[first] ?? 0;
  const length = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return first === -1 || first + length <= bytes.length ? bytes.length : first;
}

function explain({ code, message }: NodeJS.ErrnoException): TextFile {
  if (code === "ENOENT" || code === "ENOTDIR") return { kind: "missing" };
  const reasons: Record<string, string> = {
    EACCES: "permission denied; it is not read",
    EPERM: "permission denied; it is not read",
    ELOOP: "its links lead in a circle; it is not read",
  };
  return { kind: "problem", message: reasons[code ?? ""] ?? `it cannot be read (${message})` };
}
