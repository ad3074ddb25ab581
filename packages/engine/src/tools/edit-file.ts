// Replaces an exact text in a file, for models that are not trained to write patches.
import type { Outcome, ToolArguments } from "@agentcli/protocol";
import { stringEdit } from "../patch/proposed.ts";
import { editReport } from "./edit-report.ts";
import type { ToolContext } from "./tool.ts";

export async function editFile(args: ToolArguments["edit_file"], { workspace }: ToolContext): Promise<Outcome> {
  const startedAt = performance.now();
  const result = await workspace.edit({ edits: [stringEdit(args)] });
  return editReport(result, performance.now() - startedAt);
}
