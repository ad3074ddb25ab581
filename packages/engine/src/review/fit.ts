// A change cut down to what a model can read at once: source first, whole files while they fit, then whole hunks, then lines.
import { byteLength, estimateText } from "../tokens.ts";
import type { Coverage, PartlyRead } from "./coverage.ts";
import { type ChangedFile, countChanged, type Hunk } from "./diff.ts";
import { rankOf } from "./importance.ts";

export interface FittedChange {
  diff: string;
  coverage: Coverage;
}

export function fitChange(files: ChangedFile[], maxTokens: number): FittedChange {
  const chosen = chooseFiles(files, maxTokens);
  return {
    // In the order of the diff, whatever order they were chosen in: neighbours explain each other.
    diff: files.flatMap((file) => chosen.get(file)?.text ?? []).join("\n"),
    coverage: coverageOf(files, chosen),
  };
}

interface Chosen {
  text: string;
  changedLines: number;
}

/** Small files first within their rank: one huge file must not keep twenty others out. */
function chooseFiles(files: ChangedFile[], maxTokens: number): Map<ChangedFile, Chosen> {
  const sized = files.map((file) => ({ file, rank: rankOf(file.path), tokens: sizeOf(file) }));
  const ordered = sized.sort((left, right) => left.rank - right.rank || left.tokens - right.tokens);
  const chosen = new Map<ChangedFile, Chosen>();
  let room = maxTokens;
  for (const { file, tokens } of ordered) {
    const part = tokens <= room ? whole(file) : beginningOf(file, room);
    if (!part) continue;
    chosen.set(file, part);
    room -= estimateText(part.text) + 1;
  }
  return chosen;
}

const whole = (file: ChangedFile): Chosen => ({
  text: [file.header, ...file.hunks.flatMap((hunk) => hunk.lines)].join("\n"),
  changedLines: file.changedLines,
});

function sizeOf({ header, hunks }: ChangedFile): number {
  const bytes = hunks.reduce((total, hunk) => total + bytesOf(hunk.lines), byteLength(header));
  return Math.ceil(bytes / 4) + 1;
}

// Less than this says too little about a file to be worth its header.
const leastTokens = 100;
const markerTokens = 30;

function beginningOf(file: ChangedFile, room: number): Chosen | null {
  let left = room - estimateText(file.header) - markerTokens;
  if (left < leastTokens) return null;
  const lines: string[] = [];
  for (const hunk of file.hunks) {
    const kept = linesWithin(hunk, left);
    lines.push(...kept);
    left -= Math.ceil(bytesOf(kept) / 4);
    if (kept.length < hunk.lines.length) break;
  }
  const changedLines = countChanged(lines);
  if (changedLines === 0) return null;
  const marker = `[… ${file.changedLines - changedLines} more changed lines of ${file.path} left out …]`;
  return { text: [file.header, ...lines, marker].join("\n"), changedLines };
}

function linesWithin(hunk: Hunk, tokens: number): string[] {
  let bytes = tokens * 4;
  const end = hunk.lines.findIndex((line) => {
    bytes -= byteLength(line) + 1;
    return bytes < 0;
  });
  return end === -1 ? hunk.lines : hunk.lines.slice(0, end);
}

const bytesOf = (lines: string[]): number => lines.reduce((total, line) => total + byteLength(line) + 1, 0);

function coverageOf(files: ChangedFile[], chosen: Map<ChangedFile, Chosen>): Coverage {
  const partly: PartlyRead[] = [];
  const notRead: string[] = [];
  let readLines = 0;
  for (const file of files) {
    const read = chosen.get(file)?.changedLines ?? 0;
    readLines += read;
    if (!chosen.has(file)) notRead.push(file.path);
    else if (file.binary) notRead.push(`${file.path} (binary)`);
    else if (read < file.changedLines) partly.push({ path: file.path, readLines: read, ofLines: file.changedLines });
  }
  const changedLines = files.reduce((total, file) => total + file.changedLines, 0);
  return { files: files.length, changedLines, readLines, partly, notRead };
}
