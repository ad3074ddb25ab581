// Edits of a patch as diff text.
import type { EditChunk, PatchEdit } from "@agentcli/protocol";

/** The diff of one file for people: a new file is shown whole, a changed one by its changes. */
export function diffOf(edit: PatchEdit): string {
  if (edit.kind === "add") return edit.content;
  return edit.kind === "delete" ? "" : edit.chunks.map((chunk) => hunk(chunk)).join("");
}

/**
 * The same for programs, which read unified diffs only: without numbers some show no lines at all. A patch is located by
 * context: where it does not say its lines, they are counted within it.
 */
export function unifiedDiffOf(edit: PatchEdit): string {
  if (edit.kind !== "update") return diffOf(edit);
  let next = 1;
  let shift = 0;
  const hunks = edit.chunks.map((chunk) => {
    const { before, after, line = 1 } = chunk;
    const from = Math.max(next, line);
    const ranges = ` -${range(from, before.length)} +${range(from + shift, after.length)} @@`;
    next = from + before.length;
    shift += after.length - before.length;
    return hunk(chunk, ranges);
  });
  return hunks.join("");
}

/** Lines that are only added come after the line before them. */
const range = (from: number, count: number): string => `${count === 0 ? from - 1 : from},${count}`;

function hunk({ anchors, before, after }: EditChunk, ranges = ""): string {
  const head = `@@${ranges}${anchors.length > 0 ? ` ${anchors.at(-1)}` : ""}\n`;
  const same = sharedStart(before, after);
  const ending = sharedStart([...before.slice(same)].reverse(), [...after.slice(same)].reverse());
  const lines = [
    ...before.slice(0, same).map((line) => ` ${line}`),
    ...before.slice(same, before.length - ending).map((line) => `-${line}`),
    ...after.slice(same, after.length - ending).map((line) => `+${line}`),
    ...before.slice(before.length - ending).map((line) => ` ${line}`),
  ];
  return head + lines.map((line) => `${line}\n`).join("");
}

function sharedStart(left: string[], right: string[]): number {
  let count = 0;
  while (count < left.length && count < right.length && left[count] === right[count]) count += 1;
  return count;
}

/** All file changes of a turn so far, file by file. */
export const turnDiff = (edits: PatchEdit[]): string => edits.map(fileDiff).join("");

function fileDiff(edit: PatchEdit): string {
  const { path } = edit;
  const target = edit.kind === "update" ? (edit.moveTo ?? path) : path;
  const head = `diff --git a/${path} b/${target}\n`;
  const [before, after] = [`--- a/${path}\n`, `+++ b/${target}\n`];
  if (edit.kind === "delete") return `${head}deleted file mode 100644\n${before}+++ /dev/null\n`;
  if (edit.kind === "update") return head + before + after + unifiedDiffOf(edit);
  const lines = edit.content.replace(/\n$/, "").split("\n");
  const added = lines.map((line) => `+${line}\n`).join("");
  return `${head}new file mode 100644\n--- /dev/null\n${after}@@ -0,0 +1,${lines.length} @@\n${added}`;
}
