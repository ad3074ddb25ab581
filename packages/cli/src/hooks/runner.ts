// Runs a hook on this machine: its own process group, the payload on standard input, nothing left when it is over.
import { type ChildProcess, spawn } from "node:child_process";
import type { HookRequest, HookRun, HookRunner } from "@agentcli/engine/hooks";
import { isUnchanged } from "@agentcli/project/hooks";

export interface RunnerOptions {
  /** What hooks find in their environment, before what is theirs alone. */
  environment: NodeJS.ProcessEnv;
  shell: string;
  projectRoot: string;
  version: string;
}

export function hostRunner(options: RunnerOptions): HookRunner {
  return {
    async run(request, signal) {
      if (signal.aborted) return { kind: "not-started", reason: "the run was stopped" };
      try {
        if (!(await isUnchanged(request.definition))) return { kind: "modified" };
        return await carryOut(request, options, signal);
      } catch (error) {
        return { kind: "not-started", reason: (error as Error).message };
      }
    },
  };
}

function carryOut(request: HookRequest, options: RunnerOptions, signal: AbortSignal): Promise<HookRun> {
  const { definition, cwd, input, timeoutMs } = request;
  const startedAt = performance.now();
  const child = spawn(options.shell, ["-lc", definition.command], {
    cwd: definition.directory ?? cwd,
    env: environmentOf(request, options),
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  const output = { stdout: collect(child.stdout), stderr: collect(child.stderr) };
  // A hook that does not read its payload closes the pipe; how it ends says more.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    endGroup(child);
  }, timeoutMs);
  const stop = () => endGroup(child);
  let letGo: NodeJS.Timeout | undefined;
  signal.addEventListener("abort", stop, { once: true });
  return new Promise<HookRun>((resolve) => {
    child.on("error", (error) => resolve({ kind: "not-started", reason: error.message }));
    child.on("exit", () => {
      endGroup(child);
      letGo = setTimeout(() => closeOutput(child), graceMs);
    });
    child.on("close", (code) => {
      const durationMs = performance.now() - startedAt;
      const { stdout, stderr } = output;
      resolve({ kind: "ran", exitCode: code ?? 128, stdout: stdout(), stderr: stderr(), timedOut, durationMs });
    });
  }).finally(() => {
    clearTimeout(timer);
    clearTimeout(letGo);
    signal.removeEventListener("abort", stop);
  });
}

const graceMs = 200;

/** A grandchild that left the group may hold the pipes open for ever; what it says later is not the hook's answer. */
function closeOutput({ stdout, stderr }: ChildProcess): void {
  stdout?.destroy();
  stderr?.destroy();
}

function environmentOf({ definition, environment }: HookRequest, options: RunnerOptions): NodeJS.ProcessEnv {
  const { projectRoot, version } = options;
  const own =
    definition.dialect === "platform"
      ? { PLATFORM_PROJECT_DIR: projectRoot, PLATFORM_VERSION: version }
      : { AGENT_PROJECT_DIR: projectRoot };
  return { ...options.environment, ...environment, ...own };
}

const mostCharacters = 1_048_576;

/** More than anybody reads is let go. */
function collect(stream: NodeJS.ReadableStream): () => string {
  const pieces: Buffer[] = [];
  let length = 0;
  stream.on("data", (piece: Buffer) => {
    if (length < mostCharacters) pieces.push(piece);
    length += piece.length;
  });
  return () => Buffer.concat(pieces).toString("utf8").slice(0, mostCharacters);
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody of the group is left.
  }
}
