// Reads one chunk of an update: where it is, and its context, removed and added lines.
import type { EditChunk } from "@agentcli/protocol";
import { marker } from "./markers.ts";
import { atFileHeader, current, lineAt, type Problem, type Reader, skipBlank } from "./reader.ts";

/** `anchored`: a chunk must begin with `@@`. `diff`: it ends where the next file of a unified diff begins. */
export interface ChunkRules {
  anchored: boolean;
  diff: boolean;
}

export function readChunk(reader: Reader, rules: ChunkRules): EditChunk | Problem {
  const first = reader.at;
  const chunk: EditChunk = { anchors: [], before: [], after: [], endOfFile: false };
  const size = readAnchors(reader, chunk);
  if (reader.at === first && rules.anchored) {
    return { line: first + 1, problem: `'${current(reader)}' does not start a chunk; expected '@@' or '@@ {line}'` };
  }
  const isOver = () =>
    (size !== null && isBeyond(reader, chunk, size)) || (rules.diff && atNextFile(reader, chunk, size));
  while (!isOver() && readChangeLine(reader, chunk)) reader.at += 1;
  if (chunk.before.length + chunk.after.length === 0) return { line: reader.at + 1, problem: expectedChange(reader) };
  chunk.endOfFile = current(reader).trimEnd() === marker.endOfFile;
  if (chunk.endOfFile) reader.at += 1;
  else if (!isOver() && !atFileHeader(reader) && !isAnchor(current(reader)))
    return { line: reader.at + 1, problem: expectedChange(reader) };
  return chunk;
}

/** Line counts from the header of a hunk. Models miscount, so they decide only what is unclear otherwise. */
interface HunkSize {
  before: number;
  after: number;
}

const hunkHeader = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

function readAnchors(reader: Reader, chunk: EditChunk): HunkSize | null {
  let size: HunkSize | null = null;
  for (; isAnchor(current(reader)); reader.at += 1) {
    const hunk = hunkHeader.exec(current(reader));
    const anchor = current(reader).slice(marker.anchor.length + 1);
    if (hunk) {
      const [line = 0, before = 1, after = 1] = hunk.slice(1).map((digits) => (digits ? Number(digits) : undefined));
      size = { before, after };
      // Without old lines the number is that of the line above.
      chunk.line = Math.max(1, before === 0 ? line + 1 : line);
    } else if (anchor.trim() !== "") chunk.anchors.push(anchor);
  }
  return size;
}

/** Reads a context, removed or added line; false for any other line. */
function readChangeLine(reader: Reader, chunk: EditChunk): boolean {
  if (reader.at >= reader.end) return false;
  const line = current(reader);
  const text = line.slice(1);
  if (line === "" || line.startsWith(" ")) {
    chunk.before.push(text);
    chunk.after.push(text);
  } else if (line.startsWith("-")) chunk.before.push(text);
  else if (line.startsWith("+")) chunk.after.push(text);
  else return line.startsWith("\\ ");
  return true;
}

/** A blank line, or the line above the version of a mailed patch, behind a complete hunk. */
function isBeyond(reader: Reader, { before, after }: EditChunk, size: HunkSize): boolean {
  const isComplete = before.length === size.before && after.length === size.after;
  return isComplete && (current(reader) === "" || current(reader) === "-- ");
}

/** `--- x` and `+++ y` are also a removed and an added line: they are when they complete the hunk. */
function atNextFile(reader: Reader, { before, after }: EditChunk, size: HunkSize | null): boolean {
  if (current(reader).startsWith("diff --git ")) return true;
  if (!atUnifiedHeader(reader)) return false;
  return !(size !== null && before.length + 1 === size.before && after.length + 1 === size.after);
}

/** The three lines that begin a file of a unified diff. */
export const atUnifiedHeader = (reader: Reader): boolean =>
  current(reader).startsWith("--- ") && lineAt(reader, 1).startsWith("+++ ") && isAnchor(lineAt(reader, 2));

const expectedChange = (reader: Reader) =>
  `unexpected line '${current(reader)}' in an update; expected a line starting with ' ' (context), '-' (removed) or '+' (added)`;

export const isAnchor = (line: string): boolean =>
  line.trimEnd() === marker.anchor || line.startsWith(`${marker.anchor} `);

/** Blank lines before a marker are ignored; before anything else they are context. */
export function skipGap(reader: Reader): void {
  const ahead = { ...reader };
  skipBlank(ahead);
  if (atFileHeader(ahead) || isAnchor(current(ahead))) reader.at = ahead.at;
}
