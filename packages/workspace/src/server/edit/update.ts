// Works out what the chunks of an update make of a text.
import type { EditChunk } from "@agentcli/protocol";
import { type LineChange, lineChanges, type ReplacedLines } from "./line-changes.ts";
import { type ChunkMatch, findChunk, type MissingLines } from "./match.ts";
import { notesOn } from "./notes.ts";
import type { Line, Text } from "./text.ts";

export type UpdateResult =
  | { kind: "updated"; text: Text; changes: LineChange[]; notes: string[] }
  | (MissingLines & { texts: string[] });

export function updateText(text: Text, chunks: EditChunk[]): UpdateResult {
  const texts = text.lines.map((line) => line.text);
  const replacements: Replacement[] = [];
  let start = 0;
  for (const chunk of chunks) {
    const found = findChunk(texts, chunk, start);
    if (found.kind === "missing") return { ...found, texts };
    replacements.push({ chunk, found, from: found.from, to: found.to, ...replacementFor(text, chunk, found) });
    // Lines appended without context match nothing: later chunks still find what stands above them.
    if (chunk.before.length > 0 || chunk.anchors.length > 0) start = found.to;
  }
  const inOrder = [...replacements].sort((left, right) => left.from - right.from);
  const changes = lineChanges(inOrder);
  const notes = inOrder.flatMap(({ chunk, found }, index) => notesOn({ texts, chunk, found, change: changes[index] }));
  return { kind: "updated", text: { ...text, lines: replaceAll(text, inOrder) }, changes, notes };
}

interface Replacement extends ReplacedLines {
  chunk: EditChunk;
  found: ChunkMatch;
  lines: Line[];
}

function replaceAll(text: Text, replacements: Replacement[]): Line[] {
  const pieces: Line[][] = [];
  let at = 0;
  for (const { from, to, lines } of replacements) {
    pieces.push(text.lines.slice(at, from), lines);
    at = to;
  }
  return [...pieces, text.lines.slice(at)].flat();
}

/**
 * Context is taken from the file, not from the patch: a tolerant match must not rewrite lines that stay. A new line in
 * the place of an old one ends as that did; others as most of the file.
 */
function replacementFor(text: Text, chunk: EditChunk, found: ChunkMatch): Pick<Replacement, "lines" | "added" | "gap"> {
  const before = chunk.before.slice(0, chunk.before.length - found.missingBlanks);
  const after = chunk.after.slice(0, chunk.after.length - found.missingBlanks);
  const kept = keptLines(before, after);
  const stays = new Set(kept.values());
  const added: number[] = [];
  let next = 0;
  const lines = after.map((line, index): Line => {
    const context = kept.get(index);
    if (context !== undefined) next = context + 1;
    const own = context === undefined ? undefined : text.lines[found.from + context];
    if (own) return own;
    added.push(index);
    const replaced = next < before.length && !stays.has(next) ? text.lines[found.from + next++] : undefined;
    return { text: line, ending: replaced?.ending || text.ending };
  });
  const firstRemoved = before.findIndex((_, index) => !stays.has(index));
  return { lines, added, gap: [...stays].filter((index) => index < firstRemoved).length };
}

/** For each line of `after` that stands in `before` too, its place there: a longest common subsequence. */
function keptLines(before: string[], after: string[]): Map<number, number> {
  const kept = new Map<number, number>();
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  for (; head < shorter && before[head] === after[head]; head += 1) kept.set(head, head);
  let tail = 0;
  for (; tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail); tail += 1) {
    kept.set(after.length - 1 - tail, before.length - 1 - tail);
  }
  const middle = { before: before.slice(head, before.length - tail), after: after.slice(head, after.length - tail) };
  for (const [right, left] of commonLines(middle.before, middle.after)) kept.set(head + right, head + left);
  return kept;
}

function* commonLines(before: string[], after: string[]): Generator<[number, number]> {
  // Beyond this the table costs more than it saves; the lines are then taken from the patch.
  if (before.length * after.length > 4_000_000) return;
  const lengths = commonLengths(before, after);
  let left = 0;
  let right = 0;
  while (left < before.length && right < after.length) {
    const skipLeft = lengths[left + 1]?.[right] ?? 0;
    const skipRight = lengths[left]?.[right + 1] ?? 0;
    if (before[left] === after[right]) yield [right++, left++];
    else if (skipLeft >= skipRight) left += 1;
    else right += 1;
  }
}

/** `lengths[left][right]`: how many lines the rest of both from there on have in common. */
function commonLengths(before: string[], after: string[]): Uint32Array[] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let left = before.length - 1; left >= 0; left -= 1) {
    const row = lengths[left] ?? new Uint32Array();
    const below = lengths[left + 1] ?? new Uint32Array();
    for (let right = after.length - 1; right >= 0; right -= 1) {
      const same = before[left] === after[right];
      row[right] = same ? (below[right + 1] ?? 0) + 1 : Math.max(below[right] ?? 0, row[right + 1] ?? 0);
    }
  }
  return lengths;
}
