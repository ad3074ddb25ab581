// What of a file comes closest to lines that are not in it, for the message of a patch that does not fit.
import type { MissingLines } from "./match.ts";
import { withPlainCharacters } from "./tolerance.ts";

const maxShownLines = 12;
const maxShownCharacters = 200;

/** Text that follows the expected lines: the nearest lines with their numbers, or what to do without any. */
export function describeNearest(lines: string[], { lines: expected, start }: MissingLines): string {
  const file = lines.map(withPlainCharacters);
  const needle = expected.map(withPlainCharacters);
  const at = findMostEqualLines(file, needle) ?? findMostSimilarLine(file, needle);
  if (at === null) return "No lines of the file are like these. Read the file again and write the patch anew.";
  if (at < start && needle.every((line, index) => file[at + index] === line)) {
    return `They stand at line ${at + 1}, above the previous change. Put the changes of a file in the order of its lines.`;
  }
  const shown = lines.slice(at, at + Math.min(expected.length, maxShownLines));
  const numbered = shown.map((line, index) => {
    const mark = file[at + index] === needle[index] ? " " : ">";
    return `${mark} ${at + index + 1}: ${line.slice(0, maxShownCharacters)}`;
  });
  return `Nearest match at line ${at + 1} (> marks lines that differ):\n${numbered.join("\n")}`;
}

/** The position where most of the lines are equal, blank ones not counted; null if none is. */
function findMostEqualLines(file: string[], needle: string[]): number | null {
  const offsets = new Map<string, number[]>();
  needle.forEach((line, offset) => {
    if (line !== "") offsets.set(line, [...(offsets.get(line) ?? []), offset]);
  });
  const votes = new Map<number, number>();
  file.forEach((line, index) => {
    for (const offset of offsets.get(line) ?? []) {
      if (index >= offset) votes.set(index - offset, (votes.get(index - offset) ?? 0) + weight(line));
    }
  });
  const [best] = [...votes].sort(([left, ours], [right, theirs]) => theirs - ours || left - right);
  return best?.[0] ?? null;
}

/** A closing bracket says little about a position, a whole statement much. */
const weight = (line: string): number => Math.min(line.length, 40);

const minLikeness = 0.4;
const maxComparedLines = 20_000;

/** The position where the longest line is most similar. */
function findMostSimilarLine(file: string[], needle: string[]): number | null {
  const offset = needle.reduce((best, line, index) => (line.length > (needle[best] ?? "").length ? index : best), 0);
  const pairs = pairsOf(needle[offset] ?? "");
  let best: { at: number; likeness: number } | null = null;
  for (const [index, line] of file.slice(0, maxComparedLines).entries()) {
    const likeness = likenessOf(pairs, pairsOf(line));
    if (likeness >= minLikeness && likeness > (best?.likeness ?? 0))
      best = { at: Math.max(0, index - offset), likeness };
  }
  return best?.at ?? null;
}

/** Pairs of neighbouring characters, with how often they occur. */
function pairsOf(line: string): Map<string, number> {
  const pairs = new Map<string, number>();
  const text = line.slice(0, maxShownCharacters);
  for (let at = 0; at + 1 < text.length; at += 1) {
    const pair = text.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

/** From 0 to 1. */
function likenessOf(left: Map<string, number>, right: Map<string, number>): number {
  let shared = 0;
  let total = 0;
  for (const count of left.values()) total += count;
  for (const [pair, count] of right) {
    total += count;
    shared += Math.min(count, left.get(pair) ?? 0);
  }
  return total === 0 ? 0 : (2 * shared) / total;
}
