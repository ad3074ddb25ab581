// Changes one cell of a Jupyter notebook.
import type { Outcome, ToolArguments } from "@agentcli/protocol";
import { cellEdit } from "../patch/proposed.ts";
import { editReport } from "./edit-report.ts";
import type { ToolContext } from "./tool.ts";

export async function editNotebook(args: ToolArguments["edit_notebook"], { workspace }: ToolContext): Promise<Outcome> {
  const startedAt = performance.now();
  const result = await workspace.edit({ edits: [cellEdit(args)] });
  return editReport(result, performance.now() - startedAt);
}
