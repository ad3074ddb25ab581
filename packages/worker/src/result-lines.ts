// The lines of a file that holds the result of a command.
import { readFileSync } from "node:fs";
import type { Chunk, ExecResult } from "@agentcli/protocol";

/** One of these: the id comes first, how it ended last. */
export interface ResultLine {
  id?: string;
  chunk?: Chunk;
  ended?: ExecResult;
}

/** Up to the first line that was not written whole. */
export function linesOf(file: string): ResultLine[] {
  const lines: ResultLine[] = [];
  try {
    for (const line of readFileSync(file, "utf8").split("\n").slice(0, -1)) lines.push(JSON.parse(line) as ResultLine);
  } catch {
    // The rest was not written.
  }
  return lines;
}
