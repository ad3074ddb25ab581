// Files of other tools: small regular files of the user, anything else is left alone.
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import type { Skipped } from "./proposal.ts";

const usualMaxBytes = 8 * 1024 * 1024;

export type ReadFile = <T>(path: string, read: (text: string) => T, none: T) => T;

/** Reads a file with `read`; one that is missing is `none`, and so is one that cannot be read, which is noted. */
export const openReader =
  (skipped: Skipped[], maxBytes = usualMaxBytes): ReadFile =>
  (path, read, none) => {
    try {
      const text = readText(path, maxBytes);
      return text === null ? none : read(text);
    } catch (error) {
      skipped.push({ what: path, reason: (error as Error).message.trim() });
      return none;
    }
  };

export const readInstructions = (readFile: ReadFile, path: string): { path: string; text: string } | null =>
  readFile(path, (text) => (text.trim() === "" ? null : { path, text }), null);

/** Null if there is none. */
function readText(path: string, maxBytes: number): string | null {
  let file: number;
  try {
    // Opening a pipe would wait for its writer.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error("it is not a regular file");
    if (stats.size > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
    return readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  } finally {
    closeSync(file);
  }
}
