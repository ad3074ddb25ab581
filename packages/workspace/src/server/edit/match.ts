// Finds the lines a chunk expects: exactly if possible, else with increasing tolerance for typical model mistakes.
import type { EditChunk } from "@agentcli/protocol";

/** Lines `[from, to)` of the file are what the chunk expects; `spare` of its last blank lines are not in the file. */
export interface ChunkMatch {
  kind: "found";
  from: number;
  to: number;
  missingBlanks: number;
}

/** `start` is where the search begins: behind the last match. Missing lines are handed back for the message. */
export function findChunk(
  lines: string[],
  chunk: EditChunk,
  start: number,
): ChunkMatch | { kind: "missing"; lines: string[] } {
  let at = start;
  for (const anchor of chunk.anchors) {
    const found = findLines(lines, [anchor], at);
    if (found === null) return { kind: "missing", lines: [anchor] };
    at = found + 1;
  }
  if (chunk.before.length === 0) return insertion(chunk, at, lines.length);
  // Blank lines between a chunk and the next marker read as context; they need not be there.
  for (let missingBlanks = 0; missingBlanks <= endingBlanks(chunk); missingBlanks += 1) {
    const expected = chunk.before.slice(0, chunk.before.length - missingBlanks);
    const found = (chunk.endOfFile ? findAtEnd(lines, expected, at) : null) ?? findLines(lines, expected, at);
    if (found !== null) return { kind: "found", from: found, to: found + expected.length, missingBlanks };
  }
  return { kind: "missing", lines: chunk.before };
}

/** Without context, lines go behind the anchor, or to the end of the file. */
function insertion(chunk: EditChunk, at: number, end: number): ChunkMatch {
  const line = chunk.anchors.length > 0 && !chunk.endOfFile ? at : end;
  return { kind: "found", from: line, to: line, missingBlanks: 0 };
}

/** Blank lines that both end the expected and the new lines; one expected line always stays. */
function endingBlanks({ before, after }: EditChunk): number {
  let count = 0;
  while (count < before.length - 1 && before.at(-1 - count) === "" && after.at(-1 - count) === "") count += 1;
  return count;
}

function findLines(lines: string[], expected: string[], start: number): number | null {
  for (const normalize of normalizations) {
    const haystack = normalize === asWritten ? lines : lines.map(normalize);
    const needle = expected.map(normalize);
    for (let at = start; at + needle.length <= haystack.length; at += 1) {
      if (needle.every((line, index) => haystack[at + index] === line)) return at;
    }
  }
  return null;
}

function findAtEnd(lines: string[], expected: string[], start: number): number | null {
  const at = lines.length - expected.length;
  if (at < start) return null;
  const fits = normalizations.some((normalize) =>
    expected.every((line, index) => normalize(lines[at + index] ?? "") === normalize(line)),
  );
  return fits ? at : null;
}

const asWritten = (line: string) => line;
const withPlainCharacters = (line: string) =>
  line
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " ")
    .trim();

const normalizations = [
  asWritten,
  (line: string) => line.trimEnd(),
  (line: string) => line.trim(),
  withPlainCharacters,
];
