// Adds a line of the host to the output of a process.
import type { Chunk, ExecResult } from "@agentcli/protocol";

type Exited = Extract<ExecResult, { state: "exited" }>;

export interface NotedResult {
  result: Exited;
  note: Chunk;
}

export function addNote(result: Exited, text: string): NotedResult {
  const note: Chunk = { seq: result.seq + 1, stream: "stderr", text: printable(text) };
  return { result: { ...result, seq: note.seq }, note };
}

/** Commands choose the names in it, and it may be shown by a terminal. */
const printable = (text: string): string => text.replace(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd");
