// `agentcli sandbox run`: one command in the sandbox, its streams and its exit code passed on.
import { CommandError, foreignTextFor } from "@agentcli/command-line";
import type { Chunk, ExecResult, Workspace } from "@agentcli/protocol";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { configOptions } from "../../config/run-options.ts";
import { settle } from "../../config/settings.ts";
import type { Program } from "../../program.ts";
import { findUnreportedChanges } from "../../sandbox/unfinished-runs.ts";
import { composeWorkspace } from "../../sandbox/workspace.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  if (invocation.positionals.length === 0) {
    throw new CommandError("usage", "No command given. Pass it after --, such as: agentcli sandbox run -- npm test");
  }
  const options = configOptions(invocation);
  const { settings, loaded, warnings } = await settle(options, program.environment, null);
  const leftoverWarnings = await findUnreportedChanges(program.environment);
  for (const warning of [...warnings, ...leftoverWarnings]) program.reporter.log(`warning: ${warning}`);
  const requested = { ...settings, sandboxMin: options.sandboxMin };
  const { workspace } = await composeWorkspace(requested, loaded.config, program);
  try {
    return exitCode(await passThrough(workspace, invocation.positionals, program));
  } finally {
    await workspace.close();
    for (const change of await workspace.findRepositoryChanges()) program.reporter.log(`warning: ${change}`);
  }
}

const id = "command";

async function passThrough(workspace: Workspace, argv: string[], { signal }: Program): Promise<ExecResult> {
  const print = ({ stream, text }: Chunk) => {
    const output = stream === "stderr" ? process.stderr : process.stdout;
    output.write(foreignTextFor(output, text));
  };
  const running = workspace.exec({ id, start: { argv } }, print, signal);
  void feed(workspace, signal);
  return running;
}

/** Ends with the input, or with the program when the command did not want it. */
async function feed(workspace: Workspace, signal: AbortSignal): Promise<void> {
  const afterSeq = Number.MAX_SAFE_INTEGER;
  const send = (more: { input: string } | { endInput: true }) =>
    workspace.exec({ id, afterSeq, waitMs: 0, ...more }, () => {}, signal);
  try {
    process.stdin.setEncoding("utf8");
    for await (const input of process.stdin) await send({ input });
    await send({ endInput: true });
  } catch {
    // The command is over, and with it the workspace.
  }
}

function exitCode(result: ExecResult): number {
  switch (result.state) {
    case "exited":
      return result.exitCode;
    case "running":
      return exitCodes.completed.code;
    case "unknown":
    case "not-started":
      throw new CommandError("failed", result.message);
  }
}
