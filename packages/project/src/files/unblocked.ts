// Reads a text file. A pipe, which an agent may have left in its place, is read as an empty file instead of waited for.
import { closeSync, constants, openSync, readFileSync } from "node:fs";

export function readUnblocked(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}
