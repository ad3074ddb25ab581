// Session lines as text: written compactly, read with care.
import { readFileSync } from "node:fs";
import type { StoredRecord } from "@agentcli/engine";
import type { SessionLine, ThreadRecord } from "@agentcli/protocol";
import { Problem } from "../problem.ts";

export const writeLine = ({ seq, at, record }: StoredRecord): string =>
  `${JSON.stringify({ v: 1, seq, at, record })}\n`;

/** Every whole line; records of a type this version does not know are left out, a line that is no record is an error. */
export async function readLines(path: string): Promise<StoredRecord[]> {
  const { validateSessionLine } = await import("@agentcli/protocol/validators/session-line");
  const lines = readFileSync(path, "utf8").split("\n");
  // What follows the last line end was never acknowledged.
  lines.pop();
  const records: StoredRecord[] = [];
  for (const [index, text] of lines.entries()) {
    const line = parse(text);
    if (line && validateSessionLine(line)) records.push(line);
    else if (!isFromLaterVersion(line)) throw broken(path, index + 1);
  }
  return records;
}

function parse(text: string): SessionLine | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const knownTypes: Record<ThreadRecord["type"], true> = {
  "thread.created": true,
  "turn.begun": true,
  "input.added": true,
  "model.replied": true,
  "tool.begun": true,
  "tool.settled": true,
  "context.compacted": true,
  noted: true,
  "turn.ended": true,
};

function isFromLaterVersion(line: SessionLine | null): boolean {
  const type: unknown = line?.record?.type;
  return typeof type === "string" && !(type in knownTypes);
}

const broken = (path: string, line: number): Problem =>
  new Problem(
    "usage",
    `${path}: line ${line} is not a session record. The file was changed or damaged; remove or mend that line to resume.`,
  );
