// What an agent has changed, as bytes and in numbers.
import { isUtf8 } from "node:buffer";
import { CommandError } from "@agentcli/command-line";
import type { RepositoryDiff } from "@agentcli/protocol/api";

/** Of a repository, with its whole patch. */
export type WholeDiff = Omit<RepositoryDiff, "truncated" | "patchBytes" | "patchUrl">;

/** `read` takes a path below the address of the platform: the key is sent to no other host that a link may name. */
export async function readWhole(diff: RepositoryDiff, read: (path: string) => Promise<Buffer>): Promise<WholeDiff> {
  const { truncated, patchBytes, patchUrl, ...beginning } = diff;
  if (!truncated) return beginning;
  const start = patchUrl.indexOf("/v1/agents/");
  if (start === -1)
    throw new CommandError(
      "failed",
      `The patch of ${diff.repoUrl} is truncated, and the platform's link to the whole patch is not valid: ${patchUrl}. Fetch the branch of the agent instead.`,
    );
  const patch = await read(patchUrl.slice(start));
  return isUtf8(patch)
    ? { ...beginning, encoding: "utf-8", patch: patch.toString("utf8") }
    : { ...beginning, encoding: "base64", patch: patch.toString("base64") };
}

export const patchBytes = ({ patch, encoding }: WholeDiff): Buffer =>
  Buffer.from(patch, encoding === "base64" ? "base64" : "utf8");

export interface ChangeSummary {
  files_changed: number;
  lines_added: number;
  lines_removed: number;
}

export function summarize(diffs: WholeDiff[]): ChangeSummary {
  const total: ChangeSummary = { files_changed: 0, lines_added: 0, lines_removed: 0 };
  for (const diff of diffs) count(patchBytes(diff).toString("latin1").split("\n"), total);
  return total;
}

/** Headers of hunks say how many lines follow: a line that only looks like a header is not taken for one. */
function count(lines: string[], total: ChangeSummary): void {
  let left = { removed: 0, added: 0 };
  for (const line of lines) {
    const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
    if (left.removed <= 0 && left.added <= 0) {
      if (line.startsWith("diff --git ")) total.files_changed += 1;
      if (hunk) left = { removed: Number(hunk[1] ?? 1), added: Number(hunk[2] ?? 1) };
      continue;
    }
    if (line.startsWith("\\")) continue;
    if (!line.startsWith("-")) left.added -= 1;
    if (!line.startsWith("+")) left.removed -= 1;
    if (line.startsWith("+")) total.lines_added += 1;
    if (line.startsWith("-")) total.lines_removed += 1;
  }
}

export const describeSummary = ({ files_changed, lines_added, lines_removed }: ChangeSummary): string =>
  `${files_changed} ${files_changed === 1 ? "file" : "files"} changed, +${lines_added} -${lines_removed}`;
