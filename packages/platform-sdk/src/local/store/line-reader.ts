// Reads numbered lines of a growing file, only what is new since the last time.
import { closeSync, fstatSync, readSync } from "node:fs";
import { openTrusted } from "@agentcli/host/session-files";

interface Seen {
  seq: number;
  offset: number;
}

/** Whole lines behind number `after`; none where there is no file. What follows the last line end is not there yet. */
export function openLineReader<Line extends { seq: number }>(): (path: string, after: number) => Line[] {
  // One reader of a file at a time asks in order; who begins anew starts at its beginning.
  const seen = new Map<string, Seen>();
  return (path, after) => {
    const known = seen.get(path);
    const from = known && known.seq === after ? known.offset : 0;
    const text = wholeLines(path, from);
    const lines = text === "" ? [] : parsed<Line>(path, text);
    const last = lines.at(-1);
    if (last) seen.set(path, { seq: last.seq, offset: from + Buffer.byteLength(text) });
    return lines.filter(({ seq }) => seq > after);
  };
}

function wholeLines(path: string, from: number): string {
  const file = opened(path);
  if (file === null) return "";
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(file).size - from));
    const length = readSync(file, bytes, 0, bytes.length, from);
    return bytes.subarray(0, bytes.subarray(0, length).lastIndexOf(0x0a) + 1).toString("utf8");
  } finally {
    closeSync(file);
  }
}

function opened(path: string): number | null {
  try {
    return openTrusted(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

function parsed<Line>(path: string, text: string): Line[] {
  try {
    return JSON.parse(`[${text.slice(0, -1).replaceAll("\n", ",")}]`);
  } catch (error) {
    throw new Error(`${path} was changed or damaged: ${(error as Error).message}. Fix or remove the line.`, {
      cause: error,
    });
  }
}
