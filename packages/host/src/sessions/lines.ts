// Session lines as text: written compactly, validated when read.
import { closeSync, readFileSync } from "node:fs";
import type { StoredRecord } from "@agentcli/engine";
import type { ThreadRecord } from "@agentcli/protocol";
import { HostError } from "../host-error.ts";
import { openTrusted } from "./trusted-file.ts";

export const writeLine = ({ seq, at, record }: StoredRecord): string =>
  `${JSON.stringify({ v: 1, seq, at, record })}\n`;

/** The records of all complete lines; records of unknown types are left out. */
export function readLines(path: string): StoredRecord[] {
  const lines = parseAll(path, wholeLines(path));
  let before = 0;
  return lines.filter((line, index) => {
    if (!isLine(line)) throw broken(path, index + 1);
    if (line.seq < before || line.seq > before + 1) throw incomplete(path, index + 1);
    before = line.seq;
    return Object.hasOwn(knownTypes, line.record.type);
  }) as StoredRecord[];
}

/** The full check of every line, for a session that could not be folded: it costs more than the fold. */
export async function findDamage(path: string): Promise<HostError | null> {
  const { validateSessionLine } = await import("@agentcli/protocol/validators/session-line");
  const damaged = readLines(path).find((line) => !validateSessionLine(line));
  return damaged ? broken(path, damaged.seq) : null;
}

/** What follows the last line end was never acknowledged. */
function wholeLines(path: string): string {
  const text = read(path);
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

function read(path: string): string {
  let file: number | undefined;
  try {
    file = openTrusted(path);
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof HostError) throw error;
    throw new HostError("usage", `The session ${path} cannot be read: ${(error as Error).message}.`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** As one array: parsing 10,000 lines one by one takes twice as long. */
function parseAll(path: string, text: string): unknown[] {
  try {
    return JSON.parse(`[${text.slice(0, -1).replaceAll("\n", ",")}]`);
  } catch {
    const line = text.split("\n").findIndex((candidate) => !isJson(candidate));
    throw broken(path, line + 1);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isLine(line: unknown): line is StoredRecord {
  const { seq, record } = (line ?? {}) as Partial<StoredRecord>;
  return Number.isInteger(seq) && typeof record?.type === "string";
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

/** A number occurs twice where a line of an unknown type was skipped. */
const incomplete = (path: string, line: number): HostError =>
  new HostError(
    "usage",
    `${path}: records are missing before line ${line}. The file was changed or damaged; restore it from a backup, or start a new session.`,
  );

const broken = (path: string, line: number): HostError =>
  new HostError(
    "usage",
    `${path}: line ${line} is not a session record. The file was changed or damaged; remove or fix that line to resume.`,
  );
