// Writes a text to the file that a person names: it may be a terminal, such as /dev/tty, which must obey nothing of it.
import { closeSync, openSync, writeFileSync } from "node:fs";
import { isatty } from "node:tty";
import { foreignTextFor } from "./terminal-text.ts";

export function writeTextFile(path: string, text: string, { mode = 0o666 }: { mode?: number } = {}): void {
  const file = openSync(path, "w", mode);
  try {
    writeFileSync(file, foreignTextFor({ isTTY: isatty(file) }, text));
  } finally {
    closeSync(file);
  }
}
