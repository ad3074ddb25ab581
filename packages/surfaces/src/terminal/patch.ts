// A patch as a small diff.
import { proposedEdits } from "@agentcli/engine";
import type { PatchEdit } from "@agentcli/protocol";
import { diffOf } from "../diff.ts";
import type { Paint } from "../human.ts";

const maxLines = 12;

/** The diffs of the files that a call edits, with the beginning of each; null if it edits none. */
export function patchDiff(call: { name: string; args: unknown } | undefined, paint: Paint): string | null {
  const edits = call ? proposedEdits(call.name, call.args) : [];
  return edits.length > 0 ? edits.map((edit) => fileDiff(edit, paint)).join("") : null;
}

function fileDiff(edit: PatchEdit, paint: Paint): string {
  const lines = linesOf(edit);
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  const target = edit.kind === "update" && edit.moveTo ? ` → ${edit.moveTo}` : "";
  const size = edit.kind === "delete" ? "" : ` ${paint.good(`+${count("+")}`)} ${paint.bad(`-${count("-")}`)}`;
  const left = lines.length - maxLines;
  const rest = left > 0 ? [paint.dim(`… ${left} more ${left === 1 ? "line" : "lines"}`)] : [];
  const shown = [...lines.slice(0, maxLines).map((line) => painted(line, paint)), ...rest];
  return `${edit.kind} ${edit.path}${target}${size}\n${shown.map((line) => `  ${line}\n`).join("")}`;
}

const linesOf = (edit: PatchEdit): string[] =>
  (edit.kind === "add" ? edit.content.replace(/\n$/, "").replace(/^/gm, "+") : diffOf(edit).replace(/\n$/, ""))
    .split("\n")
    .filter((line) => line !== "");

function painted(line: string, paint: Paint): string {
  if (line.startsWith("+")) return paint.good(line);
  return line.startsWith("-") ? paint.bad(line) : paint.dim(line);
}
