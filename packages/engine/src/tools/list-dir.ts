// Lists a directory of the workspace.
import type { ListResult, Outcome, ToolArguments } from "@agentcli/protocol";
import { truncateForModel } from "../output.ts";
import { wholeAtLeastOne } from "./read-file.ts";
import { completed, failed, type ToolContext } from "./tool.ts";

export async function listDir(args: ToolArguments["list_dir"], context: ToolContext): Promise<Outcome> {
  const result = await context.workspace.list({
    path: args.path,
    depth: wholeAtLeastOne(args.depth ?? 1),
    limit: wholeAtLeastOne(args.limit ?? 500),
  });
  if (result.kind === "fault") return failed(result.message);
  const lines = result.entries.map((entry) => `${entry.path}${suffix[entry.kind]}`);
  if (lines.length === 0) lines.push("[the directory is empty]");
  if (result.cut) lines.push(leftOut(result));
  if (result.ignored) lines.push(`[not shown because git ignores it: ${result.ignored.join(", ")}]`);
  return completed(truncateForModel(lines.join("\n"), context.outputTokens));
}

const suffix = { directory: "/", symlink: "@", file: "", other: "?" };

type Entries = Extract<ListResult, { kind: "entries" }>;

const maxNamed = 10;

function leftOut({ entries, omitted }: Entries): string {
  const cut = entries.flatMap((entry) => (entry.omitted === undefined ? [] : [`${entry.omitted} of ${entry.path}/`]));
  const named = [...(omitted === undefined ? [] : [`${omitted} of the directory itself`]), ...cut];
  const more = named.length > maxNamed ? ` and of ${named.length - maxNamed} more directories` : "";
  return `[more entries left out: ${named.slice(0, maxNamed).join(", ")}${more}; list a subdirectory or raise limit]`;
}
