// The model's copy of a text that a tool got outside the workspace. If it has to be cut, all of it is kept in a file of
// the workspace, as the output of commands is.
import type { OutputFile } from "@agentcli/protocol";
import { cutForModel, sizeOfText } from "../output.ts";
import { describeCut } from "./process-report.ts";
import type { ToolContext } from "./tool.ts";

export type KeepContext = Pick<ToolContext, "callId" | "workspace" | "outputTokens" | "signal">;

export interface KeptText {
  text: string;
  /** Where the whole text is, for the model; undefined if nothing was cut. */
  note: string | undefined;
}

export async function keepForModel(whole: string, context: KeepContext): Promise<KeptText> {
  const { text, shown } = cutForModel(whole, context.outputTokens);
  if (shown === undefined) return { text, note: undefined };
  const file = await keepInFile(whole, context).catch(() => undefined);
  const cut = { size: sizeOfText(whole), shown, file };
  return { text, note: describeCut(cut, { whole: "All of it", remedy: "ask for less at once" }) };
}

/** Undefined where the workspace can start no process or write no file. */
async function keepInFile(whole: string, { callId, workspace, signal }: KeepContext): Promise<OutputFile | undefined> {
  const id = `${callId}/whole`;
  const request = { id, start: { argv: ["cat"] }, input: whole, endInput: true, fileAfterBytes: 0 };
  const result = await workspace.exec(request, () => {}, signal);
  await workspace.release([id]);
  return result.state === "exited" && result.exitCode === 0 ? result.outputFile : undefined;
}
