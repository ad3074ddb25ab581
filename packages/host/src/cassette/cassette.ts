// Reads a recorded run, and writes its lines.
import { readFileSync, statSync } from "node:fs";
import type { ModelReply, ModelRequest } from "@agentcli/engine";
import { HostError } from "../host-error.ts";
import type { CassetteHeader, CassetteLine, RecordedBatch, RecordedExchange } from "./format.ts";
import { isHeader, isLine } from "./valid.ts";

export interface Exchange {
  thread: string;
  request: ModelRequest;
  reply: ModelReply;
}

export interface Cassette {
  header: CassetteHeader;
  batches: RecordedBatch[];
  /** Complete requests, in the order they were answered. */
  exchanges: Exchange[];
}

export const writeLine = (line: CassetteHeader | CassetteLine): string => `${JSON.stringify(line)}\n`;

/** A last line that was cut short by a crash is left out. */
export function readCassette(path: string): Cassette {
  const text = read(path);
  const [first, ...rest] = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  const header = parseHeader(first ?? "");
  if (!isHeader(header)) throw notACassette(path, header);
  const lines = rest
    .filter((line) => line !== "")
    .map((line, index) => checked(parse(line, path, index + 2), path, index + 2));
  const batches = lines.filter((line) => line.type !== "exchange");
  if (batches.every(({ records }) => records.length === 0))
    throw new HostError("usage", `${path} holds no record: the run ended before its thread began.`);
  return { header, batches, exchanges: expand(lines.filter((line) => line.type === "exchange")) };
}

function expand(lines: RecordedExchange[]): Exchange[] {
  const last = new Map<string, ModelRequest>();
  return lines.map(({ thread, request: { kept, added, ...changed }, reply }) => {
    const before = last.get(thread);
    const messages = [...(before?.messages.slice(0, kept) ?? []), ...added];
    // Written as null where a member of the previous request is gone.
    const members = Object.entries({ ...before, ...changed }).filter(([, value]) => value !== null);
    const request = { ...Object.fromEntries(members), messages } as ModelRequest;
    last.set(thread, request);
    return { thread, request, reply };
  });
}

/** What `expand` undoes. */
export function compress(request: ModelRequest, before: ModelRequest | undefined): RecordedExchange["request"] {
  const { messages, ...members } = request;
  const kept = commonLength(messages, before?.messages ?? []);
  const gone = Object.keys(before ?? {}).filter((name) => name !== "messages" && !(name in request));
  const changed = Object.entries(members).filter(([name, value]) => {
    const previous = before?.[name as keyof ModelRequest];
    return value !== undefined && JSON.stringify(value) !== JSON.stringify(previous);
  });
  return {
    ...Object.fromEntries([...changed, ...gone.map((name) => [name, null])]),
    kept,
    added: messages.slice(kept),
  };
}

function commonLength(now: unknown[], before: unknown[]): number {
  let length = 0;
  while (length < now.length && length < before.length && isEqual(now[length], before[length])) length += 1;
  return length;
}

const isEqual = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right);

function read(path: string): string {
  try {
    // A pipe or device may never end.
    if (!statSync(path).isFile()) throw new Error("it is not a regular file");
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new HostError("usage", `The recording ${path} cannot be read: ${(error as Error).message}.`);
  }
}

function parseHeader(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // Some other file.
    return null;
  }
}

function parse(line: string, path: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw damaged(path, number);
  }
}

function checked(value: unknown, path: string, number: number): CassetteLine {
  if (!isLine(value)) throw damaged(path, number);
  return value;
}

function notACassette(path: string, header: unknown): HostError {
  const { cassette } = (header ?? {}) as Record<string, unknown>;
  const make = 'agentcli exec --record FILE "…"';
  if (cassette === 1)
    return new HostError("usage", `${path}: line 1 is damaged, or was changed by hand. Record the run again: ${make}`);
  return new HostError(
    "usage",
    typeof cassette === "number" && cassette > 1
      ? `${path} was recorded by a newer version (format ${cassette}). Update agentcli to replay it.`
      : `${path} is not a recording. Make one with: ${make}`,
  );
}

const damaged = (path: string, line: number): HostError =>
  new HostError("usage", `${path}: line ${line} is damaged. Record the run again with --record.`);
