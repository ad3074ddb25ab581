// Finds files of the workspace by name.
import type { Outcome, ToolArguments } from "@agentcli/protocol";
import { truncateForModel } from "../output.ts";
import { wholeAtLeastOne } from "./read-file.ts";
import { completed, failed, type ToolContext } from "./tool.ts";

export async function glob(args: ToolArguments["glob"], context: ToolContext): Promise<Outcome> {
  const path = args.path ?? ".";
  const limit = wholeAtLeastOne(args.limit ?? 500);
  const result = await context.workspace.list({ path, limit, glob: args.pattern });
  if (result.kind === "fault") return failed(result.message);
  const base = path === "." || path === "" ? "" : path.endsWith("/") ? path : `${path}/`;
  const lines = result.entries.map((entry) => base + entry.path);
  if (result.cut) lines.push("[more files left out; narrow the pattern or raise limit]");
  return completed(truncateForModel(lines.join("\n") || "[no files]", context.outputTokens));
}
