// Shortens a change to the model's limit: the most important files first, each whole or by its beginning.
import { byteLength, estimateText } from "../state/tokens.ts";
import type { ChangedFile } from "./changed-file.ts";
import type { Coverage, PartlyRead } from "./coverage.ts";
import { byImportance } from "./importance.ts";

export interface FittedChange {
  diff: string;
  coverage: Coverage;
}

export function fitChange(files: ChangedFile[], maxTokens: number): FittedChange {
  const ordered = [...files].sort(byImportance);
  const selected = selectFiles(ordered, maxTokens);
  return {
    diff: ordered.flatMap((file) => selected.get(file)?.text ?? []).join("\n"),
    coverage: coverageOf(ordered, selected),
  };
}

interface Selection {
  text: string;
  changedLines: number;
}

/** A file that would take more than half gets an eighth until the others had theirs: it does not displace twenty of them. */
function selectFiles(ordered: ChangedFile[], maxTokens: number): Map<ChangedFile, Selection> {
  const selected = new Map<ChangedFile, Selection>();
  let room = maxTokens;
  const take = (file: ChangedFile, tokens: number) => {
    const before = selected.get(file);
    const part = sizeOf(file) <= tokens && file.isComplete ? whole(file) : beginningOf(file, tokens);
    if (!part) return;
    selected.set(file, part);
    room += costOf(before) - costOf(part);
  };
  for (const file of ordered) take(file, Math.min(room, sizeOf(file) > maxTokens / 2 ? maxTokens / 8 : room));
  for (const file of ordered) {
    const part = selected.get(file);
    if (!part || part.changedLines < file.changedLines) take(file, room + costOf(part));
  }
  return selected;
}

const costOf = (part: Selection | undefined): number => (part ? estimateText(part.text) + 1 : 0);

const whole = (file: ChangedFile): Selection => ({
  text: textOf(file),
  changedLines: file.changedLines,
});

const textOf = ({ header, body }: ChangedFile): string => (body === "" ? header : `${header}\n${body}`);

const sizeOf = (file: ChangedFile): number => estimateText(textOf(file)) + 1;

// A smaller excerpt is not worth its header.
const minTokens = 100;
const markerTokens = 20;

function beginningOf(file: ChangedFile, room: number): Selection | null {
  const left = room - estimateText(file.header) - estimateText(file.path) - markerTokens;
  if (left < minTokens) return null;
  const lines = linesWithin(file.body, left * 4);
  const changedLines = lines.filter((line) => /^[+-]/.test(line)).length;
  if (changedLines === 0) return null;
  const marker = `[… ${file.changedLines - changedLines} more changed lines of ${file.path} left out …]`;
  return { text: [file.header, ...lines, marker].join("\n"), changedLines };
}

function linesWithin(body: string, maxBytes: number): string[] {
  // Four bytes a character at most, and one at least: no more than this can fit.
  const lines = body.slice(0, maxBytes + 1).split("\n");
  if (body.length > maxBytes) lines.pop();
  let bytes = maxBytes;
  const end = lines.findIndex((line) => {
    bytes -= byteLength(line) + 1;
    return bytes < 0;
  });
  return end === -1 ? lines : lines.slice(0, end);
}

function coverageOf(files: ChangedFile[], selected: Map<ChangedFile, Selection>): Coverage {
  const partly: PartlyRead[] = [];
  const notRead: string[] = [];
  // Named first: nothing is known about changes that may be the largest ones.
  const tooLarge: string[] = [];
  let readLines = 0;
  for (const file of files) {
    const read = selected.get(file)?.changedLines ?? 0;
    readLines += read;
    if (file.kind === "oversized") tooLarge.push(`${file.path} (too large)`);
    else if (file.kind === "binary") notRead.push(`${file.path} (binary)`);
    else if (!selected.has(file)) notRead.push(file.path);
    else if (read < file.changedLines) partly.push({ path: file.path, readLines: read, ofLines: file.changedLines });
  }
  const changedLines = files.reduce((total, file) => total + file.changedLines, 0);
  return { files: files.length, changedLines, readLines, partly, notRead: [...tooLarge, ...notRead] };
}
