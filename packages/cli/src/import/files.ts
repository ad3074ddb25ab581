// Files of other tools: small regular files that only the user can change, anything else is left alone.
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { onlyUserCanChange } from "@agentcli/workspace";
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
  const file = openOwn(path);
  if (file === null) return null;
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error("it is not a regular file");
    if (stats.size > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
    return readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  } finally {
    closeSync(file);
  }
}

/** What is taken over names programs that run outside the sandbox. A link may lead to another file of the user, as with dotfiles. */
function openOwn(path: string): number | null {
  try {
    const real = realpathSync(path);
    if (!onlyUserCanChange(real))
      throw new Error(
        "other users can change it; make it and the directories above it yours alone (chmod go-w), and import again",
      );
    // Opening a pipe would wait for its writer.
    return openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}
