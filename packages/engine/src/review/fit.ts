// Shortens a change to the model's limit: source files first, whole files while they fit, then whole hunks, then lines.
import { byteLength, estimateText } from "../state/tokens.ts";
import type { Coverage, PartlyRead } from "./coverage.ts";
import { type ChangedFile, countChanged, type Hunk } from "./diff.ts";
import { rankOf } from "./importance.ts";

export interface FittedChange {
  diff: string;
  coverage: Coverage;
}

export function fitChange(files: ChangedFile[], maxTokens: number): FittedChange {
  const selected = selectFiles(files, maxTokens);
  return {
    // In the order of the diff, because neighbouring files explain each other.
    diff: files.flatMap((file) => selected.get(file)?.text ?? []).join("\n"),
    coverage: coverageOf(files, selected),
  };
}

interface Selection {
  text: string;
  changedLines: number;
}

/** Small files first within their rank, so that one huge file does not displace twenty others. */
function selectFiles(files: ChangedFile[], maxTokens: number): Map<ChangedFile, Selection> {
  const sized = files.map((file) => ({ file, rank: rankOf(file.path), tokens: sizeOf(file) }));
  const ordered = sized.sort((left, right) => left.rank - right.rank || left.tokens - right.tokens);
  const selected = new Map<ChangedFile, Selection>();
  let room = maxTokens;
  for (const { file, tokens } of ordered) {
    const part = tokens <= room ? whole(file) : beginningOf(file, room);
    if (!part) continue;
    selected.set(file, part);
    room -= estimateText(part.text) + 1;
  }
  return selected;
}

const whole = (file: ChangedFile): Selection => ({
  text: [file.header, ...file.hunks.flatMap((hunk) => hunk.lines)].join("\n"),
  changedLines: file.changedLines,
});

function sizeOf({ header, hunks }: ChangedFile): number {
  const bytes = hunks.reduce((total, hunk) => total + bytesOf(hunk.lines), byteLength(header));
  return Math.ceil(bytes / 4) + 1;
}

// A smaller excerpt is not worth its header.
const minTokens = 100;
const markerTokens = 30;

function beginningOf(file: ChangedFile, room: number): Selection | null {
  let left = room - estimateText(file.header) - markerTokens;
  if (left < minTokens) return null;
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

function coverageOf(files: ChangedFile[], selected: Map<ChangedFile, Selection>): Coverage {
  const partly: PartlyRead[] = [];
  const notRead: string[] = [];
  let readLines = 0;
  for (const file of files) {
    const read = selected.get(file)?.changedLines ?? 0;
    readLines += read;
    if (!selected.has(file)) notRead.push(file.path);
    else if (file.binary) notRead.push(`${file.path} (binary)`);
    else if (read < file.changedLines) partly.push({ path: file.path, readLines: read, ofLines: file.changedLines });
  }
  const changedLines = files.reduce((total, file) => total + file.changedLines, 0);
  return { files: files.length, changedLines, readLines, partly, notRead };
}
