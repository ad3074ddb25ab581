// Runs commands in a workspace.
import type { ExecRequest, ExecResult, Workspace } from "@agentcli/protocol";

export interface CommandOutput {
  result: ExecResult;
  stdout: string;
  stderr: string;
  /** Both streams, in order of arrival. */
  all: string;
}

let lastId = 0;
export const freshId = () => {
  lastId += 1;
  return `process-${lastId}`;
};

export async function exec(workspace: Workspace, request: ExecRequest, signal = new AbortController().signal) {
  const output: CommandOutput = { result: { state: "unknown", message: "" }, stdout: "", stderr: "", all: "" };
  output.result = await workspace.exec(
    request,
    (chunk) => {
      output.all += chunk.text;
      if (chunk.stream !== "terminal") output[chunk.stream] += chunk.text;
    },
    signal,
  );
  return output;
}

export const bash = (workspace: Workspace, script: string, more: Partial<NonNullable<ExecRequest["start"]>> = {}) =>
  exec(workspace, { id: freshId(), start: { argv: ["bash", "-c", script], ...more } });

/** Polls until the condition holds; the test timeout ends it otherwise. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}
