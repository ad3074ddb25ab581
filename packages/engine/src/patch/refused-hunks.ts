// A patch without the hunks that the user refused, and what the model reads of them.
import type { EditChunk, PatchEdit } from "@agentcli/protocol";
import type { Admission } from "../thread-hooks.ts";
import { marker } from "./markers.ts";
import { proposedEdits } from "./proposed.ts";

interface EditCall {
  name: string;
  args: unknown;
}

/** Hunks are counted from 0 over all files; a file that is added, deleted or only moved is one. */
export function withoutHunks({ name, args }: EditCall, refused: number[], reason = ""): Admission {
  const why = reason ? ` Reason of the user: ${reason}` : "";
  const { kept, dropped } = divide(proposedEdits(name, args), new Set(refused));
  if (name !== "apply_patch" || kept.length === 0)
    return { kind: "declined", reason: reason ? `rejected by user: ${reason}` : "rejected by user" };
  if (dropped.length === 0) return { kind: "admitted", args };
  const input = textOf(kept);
  const note = `The user accepted this patch only in part. These hunks were refused and not applied:\n${textOf(dropped)}${why}`;
  return { kind: "admitted", args: { ...(args as object), input }, notes: [note] };
}

function divide(edits: PatchEdit[], refused: Set<number>): { kept: PatchEdit[]; dropped: PatchEdit[] } {
  const kept: PatchEdit[] = [];
  const dropped: PatchEdit[] = [];
  let next = 0;
  for (const edit of edits) {
    if (edit.kind !== "update" || edit.chunks.length === 0) {
      (refused.has(next++) ? dropped : kept).push(edit);
      continue;
    }
    const first = next;
    next += edit.chunks.length;
    const isRefused = (_chunk: EditChunk, index: number) => refused.has(first + index);
    const gone = edit.chunks.filter(isRefused);
    const left = edit.chunks.filter((chunk, index) => !isRefused(chunk, index));
    if (left.length > 0) kept.push({ ...edit, chunks: left });
    if (gone.length > 0) dropped.push({ ...edit, chunks: gone });
  }
  return { kept, dropped };
}

const textOf = (edits: PatchEdit[]): string => [marker.begin, ...edits.flatMap(linesOf), marker.end, ""].join("\n");

function linesOf(edit: PatchEdit): string[] {
  if (edit.kind === "delete") return [`${marker.delete}${edit.path}`];
  if (edit.kind === "add") return [`${marker.add}${edit.path}`, ...addedLines(edit.content)];
  const move = edit.moveTo === undefined ? [] : [`${marker.move}${edit.moveTo}`];
  return [`${marker.update}${edit.path}`, ...move, ...edit.chunks.flatMap(chunkLines)];
}

const addedLines = (content: string): string[] =>
  content
    .split("\n")
    .slice(0, -1)
    .map((line) => `+${line}`);

function chunkLines({ anchors, before, after, endOfFile }: EditChunk): string[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const rest = Math.min(before.length, after.length) - start;
  while (end < rest && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [
    ...(anchors.length === 0 ? ["@@"] : anchors.map((anchor) => `@@ ${anchor}`)),
    ...before.slice(0, start).map((line) => ` ${line}`),
    ...before.slice(start, before.length - end).map((line) => `-${line}`),
    ...after.slice(start, after.length - end).map((line) => `+${line}`),
    ...before.slice(before.length - end).map((line) => ` ${line}`),
    ...(endOfFile ? [marker.endOfFile] : []),
  ];
}
