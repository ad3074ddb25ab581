// Replaces an exact text in a file. Everything else stays as it is, to the last byte.
import type { Edit } from "@agentcli/protocol";
import type { LineChange } from "./line-changes.ts";
import { describeNearest } from "./nearest.ts";
import { Refusal } from "./refusal.ts";

type Replace = Extract<Edit, { kind: "replace" }>;

export interface ReplacedText {
  text: string;
  changes: LineChange[];
}

export function replaceText(text: string, displayPath: string, edit: Replace): ReplacedText {
  if (edit.old === "") throw new Refusal(`Failed to edit ${displayPath}: old_string is empty`);
  if (edit.old === edit.new) throw new Refusal(`Failed to edit ${displayPath}: old_string and new_string are the same`);
  // Models write line feeds, whatever the file has.
  const written = text.includes(edit.old) ? edit : withCarriageReturns(edit);
  const positions = positionsOf(text, written.old);
  if (positions.length === 0) throw new Refusal(notFound(text, displayPath, edit.old));
  const lines = positions.map((position) => lineAt(text, position));
  const allowed = edit.count ?? (edit.all ? positions.length : 1);
  if (positions.length !== allowed) throw new Refusal(wrongCount(displayPath, lines, edit));
  return { text: text.split(written.old).join(written.new), changes: changesAt(lines, written) };
}

const withCarriageReturns = (edit: Replace): Replace => ({
  ...edit,
  old: edit.old.replace(/\r?\n/g, "\r\n"),
  new: edit.new.replace(/\r?\n/g, "\r\n"),
});

function positionsOf(text: string, part: string): number[] {
  const positions: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) positions.push(at);
  return positions;
}

/** Counted from 1. */
const lineAt = (text: string, position: number): number => countBreaks(text.slice(0, position)) + 1;
const countBreaks = (text: string): number => text.split("\n").length - 1;

function changesAt(lines: number[], edit: Replace): LineChange[] {
  const [removed, added] = [countBreaks(edit.old), countBreaks(edit.new)];
  return lines.map((line, index) => {
    const from = line + index * (added - removed);
    return { from, to: from + added, removed: removed + 1, oldEnd: line + removed, growth: added - removed };
  });
}

function notFound(text: string, displayPath: string, old: string): string {
  const lines = old.replace(/\r?\n$/, "").split(/\r?\n/);
  const nearest = describeNearest(text.split(/\r?\n/), { kind: "missing", lines, start: 0 });
  return `Failed to find old_string in ${displayPath}. It must match exactly, with white space.\n\n${nearest}`;
}

function wrongCount(displayPath: string, lines: number[], { count }: Replace): string {
  const found = `old_string occurs ${lines.length} ${lines.length === 1 ? "time" : "times"} in ${displayPath} (line ${lines.slice(0, 20).join(", ")})`;
  if (count !== undefined) return `${found}, not ${count} as expected. Nothing was changed.`;
  return `${found}. Give more of the text around the one that is meant, or set replace_all.`;
}
