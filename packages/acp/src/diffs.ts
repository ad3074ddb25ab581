// Edits as the text before and after. The app server has the changed lines alone: the whole file is put together around them.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { FileUpdateChange } from "@agentcli/protocol/app-server";
import type { ToolCallContent } from "@agentclientprotocol/sdk";

/** Whether the file on disk has the change already. */
export type DiskState = "before" | "after";

export function diffContent(change: FileUpdateChange, cwd: string, disk: DiskState): ToolCallContent {
  const path = resolve(cwd, change.path);
  const { kind, diff } = change;
  if (kind.type === "add") return { type: "diff", path, oldText: null, newText: diff };
  const target = resolve(cwd, (kind.type === "update" && kind.move_path) || change.path);
  const current = readText(disk === "after" ? target : path);
  if (kind.type === "delete") return { type: "diff", path, oldText: current ?? "", newText: "" };
  const hunks = parseHunks(diff);
  return { type: "diff", path: target, ...(whole(current, hunks, disk) ?? fragment(hunks)) };
}

interface Hunk {
  before: string[];
  after: string[];
}

function parseHunks(diff: string): Hunk[] {
  const hunks: Hunk[] = [];
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    if (line.startsWith("@@")) hunks.push({ before: [], after: [] });
    const hunk = hunks.at(-1);
    if (!hunk || line.startsWith("@@")) continue;
    if (!line.startsWith("+")) hunk.before.push(line.slice(1));
    if (!line.startsWith("-")) hunk.after.push(line.slice(1));
  }
  return hunks;
}

interface Texts {
  oldText: string;
  newText: string;
}

/** Null where the lines are not found: the file was changed meanwhile. */
function whole(current: string | null, hunks: Hunk[], disk: DiskState): Texts | null {
  if (current === null) return null;
  const lines = current.split("\n");
  const other: string[] = [];
  let at = 0;
  for (const { before, after } of hunks) {
    const [here, there] = disk === "before" ? [before, after] : [after, before];
    const start = find(lines, here, at);
    if (start === -1) return null;
    other.push(...lines.slice(at, start), ...there);
    at = start + here.length;
  }
  const changed = [...other, ...lines.slice(at)].join("\n");
  return disk === "before" ? { oldText: current, newText: changed } : { oldText: changed, newText: current };
}

function find(lines: string[], wanted: string[], from: number): number {
  for (let start = from; start + wanted.length <= lines.length; start++)
    if (wanted.every((line, index) => lines[start + index] === line)) return start;
  return -1;
}

const fragment = (hunks: Hunk[]): Texts => ({
  oldText: hunks.map(({ before }) => before.join("\n")).join("\n"),
  newText: hunks.map(({ after }) => after.join("\n")).join("\n"),
});

/** Larger ones are shown by their changed lines. */
const maxCharacters = 1024 * 1024;

function readText(path: string): string | null {
  try {
    const text = readFileSync(path, "utf8");
    return text.length <= maxCharacters ? text : null;
  } catch {
    return null;
  }
}
