// Reads a session file from its two ends: how it began and its current status, without reading the middle.
import { closeSync, fstatSync, readSync } from "node:fs";
import type { RecordOf, SessionLine } from "@agentcli/protocol";
import { HostError } from "../host-error.ts";
import { openTrusted } from "./trusted-file.ts";

export interface Scan {
  created: RecordOf<"thread.created">;
  createdAt: string;
  firstTurn: RecordOf<"turn.begun"> | null;
  lastTurn: RecordOf<"turn.begun"> | null;
  /** Null while the last turn is open. */
  end: RecordOf<"turn.ended"> | null;
  updatedMs: number;
}

/** Null for a file that is gone, cannot be read or believed, is empty so far or does not begin as a session. */
export function scanSession(path: string): Scan | null {
  const file = openIfPresent(path);
  if (file === null) return null;
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return null;
    const { size, mtimeMs } = stat;
    const [first, ...opening] = readOpening(file);
    if (first?.record.type !== "thread.created") return null;
    const firstTurn = opening.map(({ record }) => record).find((record) => record.type === "turn.begun") ?? null;
    const { created, createdAt } = { created: first.record, createdAt: first.at };
    return {
      created,
      createdAt,
      firstTurn,
      lastTurn: lastTurn(file, size),
      end: lastEnd(file, size),
      updatedMs: mtimeMs,
    };
  } finally {
    closeSync(file);
  }
}

function openIfPresent(path: string): number | null {
  try {
    return openTrusted(path);
  } catch (error) {
    if (error instanceof HostError) return null;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "EACCES") return null;
    throw error;
  }
}

/** The lines up to the first turn. A thread begins with few of them. */
function readOpening(file: number): SessionLine[] {
  const lines: SessionLine[] = [];
  let start = 0;
  while (lines.length < maxOpeningLines) {
    const line = readLineAt(file, start);
    const parsed = line && parseLine(line);
    if (!parsed) return lines;
    lines.push(parsed);
    if (parsed.record.type === "turn.begun") return lines;
    start += line.length + 1;
  }
  return lines;
}

const maxOpeningLines = 16;

/** Searched for as bytes: the text between the last turn's beginning and the end of the file need not be parsed. */
const turnMark = Buffer.from('"record":{"type":"turn.begun"');
/** Longer than the text before the mark in a line. */
const maxPrefixBytes = 128;

function lastTurn(file: number, size: number): RecordOf<"turn.begun"> | null {
  for (let before = size; ; ) {
    const mark = lastIndexOf(file, turnMark, before);
    if (mark === -1) return null;
    const line = readLineAt(file, lineStart(file, mark));
    const record = line && parseLine(line)?.record;
    if (record?.type === "turn.begun") return record;
    before = mark;
  }
}

/** A mark far inside a line is not a separate record; what is read from here then cannot be parsed and is skipped. */
function lineStart(file: number, mark: number): number {
  const from = Math.max(0, mark - maxPrefixBytes);
  return from + readBytes(file, from, mark - from).lastIndexOf(0x0a) + 1;
}

/** Decided by the last complete line that is not a note. */
function lastEnd(file: number, size: number): RecordOf<"turn.ended"> | null {
  const newline = Buffer.from("\n");
  let end = lastIndexOf(file, newline, size);
  while (end > 0) {
    const start = lastIndexOf(file, newline, end) + 1;
    const [, type] =
      /^\{"v":1,"seq":\d+,"at":"[^"]*","record":\{"type":"([^"]*)"/.exec(
        readBytes(file, start, Math.min(end - start, 2 * maxPrefixBytes)).toString("utf8"),
      ) ?? [];
    if (type === "turn.ended") {
      const record = parseLine(readBytes(file, start, end - start))?.record;
      return record?.type === "turn.ended" ? record : null;
    }
    if (type !== "noted") return null;
    end = start - 1;
  }
  return null;
}

const blockBytes = 256 * 1024;

/** Start of the last occurrence of the bytes before this position, or -1. */
function lastIndexOf(file: number, pattern: Buffer, before: number): number {
  for (let end = before; end > 0; ) {
    const start = Math.max(0, end - blockBytes);
    const found = readBytes(file, start, end - start).lastIndexOf(pattern);
    if (found !== -1) return start + found;
    if (start === 0) return -1;
    end = start + pattern.length - 1;
  }
  return -1;
}

/** Without its line end; null if there is no complete line. */
function readLineAt(file: number, start: number): Buffer | null {
  const pieces: Buffer[] = [];
  for (let at = start; ; ) {
    const piece = readBytes(file, at, blockBytes / 4);
    const newline = piece.indexOf(0x0a);
    pieces.push(newline === -1 ? piece : piece.subarray(0, newline));
    if (newline !== -1) return Buffer.concat(pieces);
    if (piece.length === 0) return null;
    at += piece.length;
  }
}

function readBytes(file: number, start: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, start));
}

function parseLine(line: Buffer): SessionLine | null {
  try {
    const parsed = JSON.parse(line.toString("utf8"));
    return isSound(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** Enough for a list; resuming a thread checks it in full. */
function isSound(line: { at?: unknown; record?: Record<string, unknown> } | null): boolean {
  const record = line?.record;
  if (typeof record?.type !== "string" || typeof line?.at !== "string") return false;
  const hasSettings = typeof (record.settings as { cwd?: unknown } | null | undefined)?.cwd === "string";
  if (record.type === "thread.created") return hasSettings && typeof record.threadId === "string";
  if (record.type === "turn.begun") return hasSettings && Array.isArray(record.input) && !record.input.includes(null);
  return record.type !== "turn.ended" || typeof (record.end as { status?: unknown } | null)?.status === "string";
}
