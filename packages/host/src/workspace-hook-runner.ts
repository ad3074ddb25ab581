// Runs a hook inside the workspace: the payload on standard input, no process left when it ends.
import type { HookRequest, HookRun, HookRunner } from "@agentcli/engine/hooks";
import type { Workspace } from "@agentcli/protocol";

export interface WorkspaceRunnerOptions {
  workspace: Workspace;
  shell: string;
  version: string;
  newId(): string;
}

const maxCharacters = 1_048_576;

export const workspaceRunner = ({ workspace, shell, version, newId }: WorkspaceRunnerOptions): HookRunner => ({
  async run(request, signal) {
    const id = `hook-${newId()}`;
    const output = { stdout: "", stderr: "" };
    try {
      const { definition, cwd, timeoutMs, input } = request;
      // No login shell: its start-up files are in a home that the agent can write.
      const argv = [shell, "-c", definition.command];
      const start = { argv, cwd: definition.directory ?? cwd, env: environmentOf(request, version), timeoutMs };
      const result = await workspace.exec(
        { id, start, input, endInput: true },
        ({ stream, text }) => {
          const kind = stream === "stderr" ? "stderr" : "stdout";
          output[kind] = (output[kind] + text).slice(0, maxCharacters);
        },
        signal,
      );
      if (result.state !== "exited") return unanswered("message" in result ? result.message : "it did not end");
      const { exitCode, timedOut, durationMs } = result;
      return { kind: "ran", exitCode, ...output, timedOut, durationMs };
    } catch (error) {
      return unanswered((error as Error).message);
    } finally {
      await workspace.release([id]).catch(() => {});
    }
  },
});

const unanswered = (reason: string): HookRun => ({ kind: "unanswered", reason, durationMs: 0 });

function environmentOf({ definition, environment, cwd }: HookRequest, version: string): Record<string, string> {
  const project = definition.directory ?? cwd;
  const hookVariables: Record<string, string> =
    definition.dialect === "platform"
      ? { PLATFORM_PROJECT_DIR: project, PLATFORM_VERSION: version }
      : { AGENT_PROJECT_DIR: project };
  return { ...environment, ...hookVariables };
}
