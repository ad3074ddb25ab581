// A patch as a small diff.
import { parsePatch } from "@agentcli/engine";
import type { Edit } from "@agentcli/protocol";
import { diffOf } from "../diff.ts";
import type { Paint } from "../human.ts";

const maxLines = 12;

/** The diffs of the files of a patch, with the beginning of each; null if it is not a patch. */
export function patchDiff(args: unknown, paint: Paint): string | null {
  const { input } = (args ?? {}) as { input?: unknown };
  const parsed = parsePatch(String(input ?? ""));
  return parsed.kind === "patch" ? parsed.edits.map((edit) => fileDiff(edit, paint)).join("") : null;
}

function fileDiff(edit: Edit, paint: Paint): string {
  const lines = linesOf(edit);
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  const target = edit.kind === "update" && edit.moveTo ? ` → ${edit.moveTo}` : "";
  const size = edit.kind === "delete" ? "" : ` ${paint.good(`+${count("+")}`)} ${paint.bad(`-${count("-")}`)}`;
  const rest = lines.length > maxLines ? [paint.dim(`… ${lines.length - maxLines} more lines`)] : [];
  const shown = [...lines.slice(0, maxLines).map((line) => painted(line, paint)), ...rest];
  return `${edit.kind} ${edit.path}${target}${size}\n${shown.map((line) => `  ${line}\n`).join("")}`;
}

const linesOf = (edit: Edit): string[] =>
  (edit.kind === "add" ? edit.content.replace(/\n$/, "").replace(/^/gm, "+") : diffOf(edit).replace(/\n$/, ""))
    .split("\n")
    .filter((line) => line !== "");

function painted(line: string, paint: Paint): string {
  if (line.startsWith("+")) return paint.good(line);
  return line.startsWith("-") ? paint.bad(line) : paint.dim(line);
}
