// `agentcli sandbox run`: one command in the sandbox, its streams and its exit code passed on.
import { isAbsolute, resolve } from "node:path";
import { loadConfig } from "@agentcli/project";
import type { Chunk, Config, ExecResult, Workspace } from "@agentcli/protocol";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../args.ts";
import { Problem } from "../problem.ts";
import type { Program } from "../program.ts";
import { runOptions } from "../run-options.ts";
import { resolveSettings } from "../settings.ts";
import { composeWorkspace } from "../workspace.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  if (invocation.positionals.length === 0) {
    throw new Problem("usage", "Which command? Give it after --: agentcli sandbox run -- npm test.");
  }
  const options = runOptions(invocation);
  const loaded = await loadConfig(program.environment.agentHome, options.overrides);
  const settings = resolveSettings(options, loaded, program.environment, null);
  const config = withDirectories(loaded.config, invocation.list("add-dir"), program.environment.cwd);
  const { workspace } = await composeWorkspace({ ...settings, sandboxMin: options.sandboxMin }, config, program);
  try {
    return exitCode(await passThrough(workspace, invocation.positionals, program));
  } finally {
    await workspace.close();
  }
}

function withDirectories(config: Config, directories: string[], cwd: string): Config {
  const write = config.sandbox_workspace_write ?? {};
  const more = directories.map((path) => (isAbsolute(path) ? path : resolve(cwd, path)));
  return {
    ...config,
    sandbox_workspace_write: { ...write, writable_roots: [...(write.writable_roots ?? []), ...more] },
  };
}

const id = "command";

async function passThrough(workspace: Workspace, argv: string[], { signal }: Program): Promise<ExecResult> {
  const print = ({ stream, text }: Chunk) => void (stream === "stderr" ? process.stderr : process.stdout).write(text);
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
      throw new Problem("failed", result.message);
  }
}
