// Commands in a workspace, as the suites run them.
import type { ExecRequest, ExecResult, Workspace } from "@agentcli/protocol";

export interface Told {
  result: ExecResult;
  stdout: string;
  stderr: string;
  /** Everything, in order of arrival. */
  all: string;
}

let lastId = 0;
export const freshId = () => {
  lastId += 1;
  return `process-${lastId}`;
};

export async function exec(workspace: Workspace, request: ExecRequest, signal = new AbortController().signal) {
  const told: Told = { result: { state: "unknown", message: "" }, stdout: "", stderr: "", all: "" };
  told.result = await workspace.exec(
    request,
    (chunk) => {
      told.all += chunk.text;
      if (chunk.stream !== "terminal") told[chunk.stream] += chunk.text;
    },
    signal,
  );
  return told;
}

export const bash = (workspace: Workspace, script: string, more: Partial<NonNullable<ExecRequest["start"]>> = {}) =>
  exec(workspace, { id: freshId(), start: { argv: ["bash", "-c", script], ...more } });

/** Looks again until it is so; the suite's own time limit ends it otherwise. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}
