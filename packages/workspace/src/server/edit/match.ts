// Finds the lines a chunk expects: exactly if possible, else with increasing tolerance for typical model mistakes.
import type { EditChunk } from "@agentcli/protocol";
import { asWritten, normalizations, type Tolerance } from "./tolerance.ts";

/** Lines `[from, to)` of the file are what the chunk expects; the last `missingBlanks` of its lines are not in the file. */
export interface ChunkMatch {
  kind: "found";
  from: number;
  to: number;
  missingBlanks: number;
  tolerance: Tolerance;
  /** Where else the text that chose this position stands, counted from 0. */
  others: number[];
  /** The text is the line after `@@`, not the chunk itself. */
  byAnchor: boolean;
}

export interface MissingLines {
  kind: "missing";
  lines: string[];
  /** The search began here. */
  start: number;
}

/** `start` is where the search begins: behind the last match. Missing lines are handed back for the message. */
export function findChunk(lines: string[], chunk: EditChunk, start: number): ChunkMatch | MissingLines {
  let at = start;
  let othersOfAnchor: number[] | undefined;
  for (const anchor of chunk.anchors) {
    const found = findLines(lines, [anchor], { start: at });
    if (found === null) return { kind: "missing", lines: [anchor], start: at };
    othersOfAnchor ??= found.others;
    at = found.at + 1;
  }
  if (chunk.before.length === 0) return insertion(chunk, at, lines.length);
  const match = findExpected(lines, chunk, at);
  if (match === null) return { kind: "missing", lines: chunk.before, start: at };
  return othersOfAnchor === undefined ? match : { ...match, others: othersOfAnchor, byAnchor: true };
}

function findExpected(lines: string[], chunk: EditChunk, start: number): ChunkMatch | null {
  const near = chunk.line === undefined ? undefined : chunk.line - 1;
  // Blank lines between a chunk and the next marker read as context; they need not be there.
  for (let missingBlanks = 0; missingBlanks <= endingBlanks(chunk); missingBlanks += 1) {
    const expected = chunk.before.slice(0, chunk.before.length - missingBlanks);
    const found =
      (chunk.endOfFile ? findAtEnd(lines, expected, start) : null) ?? findLines(lines, expected, { start, near });
    if (found === null) continue;
    const { at, tolerance, others } = found;
    return { kind: "found", from: at, to: at + expected.length, missingBlanks, tolerance, others, byAnchor: false };
  }
  return null;
}

/** Without context, lines go where a diff puts them, behind the anchor, or to the end of the file. */
function insertion(chunk: EditChunk, at: number, end: number): ChunkMatch {
  const stated = chunk.line === undefined ? end : Math.min(Math.max(chunk.line - 1, at), end);
  const line = chunk.anchors.length > 0 && !chunk.endOfFile ? at : stated;
  return { kind: "found", from: line, to: line, missingBlanks: 0, tolerance: "exact", others: [], byAnchor: false };
}

/** Blank lines that both end the expected and the new lines; one expected line always stays. */
function endingBlanks({ before, after }: EditChunk): number {
  let count = 0;
  while (count < before.length - 1 && before.at(-1 - count) === "" && after.at(-1 - count) === "") count += 1;
  return count;
}

interface Found {
  at: number;
  tolerance: Tolerance;
  others: number[];
}

/** The first position, or the one nearest to the line `near`. A position exactly there is not in question. */
function findLines(
  lines: string[],
  expected: string[],
  { start, near }: { start: number; near?: number | undefined },
): Found | null {
  for (const { tolerance, normalize } of normalizations) {
    const haystack = normalize === asWritten ? lines : lines.map(normalize);
    const positions = positionsOf(haystack, expected.map(normalize), start);
    const at = near === undefined ? positions[0] : nearestOf(positions, near);
    if (at === undefined) continue;
    return { at, tolerance, others: at === near ? [] : positions.filter((position) => position !== at) };
  }
  return null;
}

function positionsOf(haystack: string[], needle: string[], start: number): number[] {
  const positions: number[] = [];
  for (let at = start; at + needle.length <= haystack.length; at += 1) {
    if (needle.every((line, index) => haystack[at + index] === line)) positions.push(at);
  }
  return positions;
}

function nearestOf(positions: number[], near: number): number | undefined {
  let best: number | undefined;
  for (const position of positions) {
    if (best === undefined || Math.abs(position - near) < Math.abs(best - near)) best = position;
  }
  return best;
}

function findAtEnd(lines: string[], expected: string[], start: number): Found | null {
  const at = lines.length - expected.length;
  if (at < start) return null;
  const fitting = normalizations.find(({ normalize }) =>
    expected.every((line, index) => normalize(lines[at + index] ?? "") === normalize(line)),
  );
  return fitting === undefined ? null : { at, tolerance: fitting.tolerance, others: [] };
}
