// Runs a hook on this machine: its own process group, the payload on standard input, no process left when it ends.
import { type ChildProcess, spawn } from "node:child_process";
import type { HookRequest, HookRun, HookRunner } from "@agentcli/engine/hooks";
import { type HostProcesses, type HostPrograms, openHostProcesses } from "@agentcli/workspace";

export interface RunnerOptions {
  /** Base environment of all hooks; variables of the single hook are added. */
  environment: NodeJS.ProcessEnv;
  /** Gives the PATH of all hooks. */
  programs: HostPrograms;
  shell: string;
  projectRoot: string;
  version: string;
  /** Distinguishes the processes of this run from those of others. */
  incarnation: string;
}

export interface HostRunner extends HookRunner {
  close(): Promise<void>;
}

export function hostRunner(options: RunnerOptions): HostRunner {
  let opening: Promise<HostProcesses> | undefined;
  return {
    async run(request, signal) {
      try {
        opening ??= openHostProcesses(options.incarnation);
        return await runProcess(request, { ...options, processes: await opening }, signal);
      } catch (error) {
        return unanswered(error as Error);
      }
    },
    close: async () => (await opening)?.close(),
  };
}

interface ProcessOptions extends RunnerOptions {
  processes: HostProcesses;
}

function runProcess(request: HookRequest, options: ProcessOptions, signal: AbortSignal): Promise<HookRun> {
  const { definition, cwd, input, timeoutMs } = request;
  const { processes } = options;
  const startedAt = performance.now();
  // Not a login shell: profiles put directories of the workspace on PATH, read files there, or are links to them.
  const child = spawn(options.shell, ["-c", definition.command], {
    cwd: definition.directory ?? cwd,
    env: environmentOf(request, options),
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  if (child.pid !== undefined) processes.started(child.pid);
  const output = { stdout: collect(child.stdout), stderr: collect(child.stderr) };
  // A hook that does not read its payload closes the pipe; its exit code says more than the broken pipe.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    endGroup(child);
  }, timeoutMs);
  const stop = () => endGroup(child);
  let closing: NodeJS.Timeout | undefined;
  signal.addEventListener("abort", stop, { once: true });
  return new Promise<HookRun>((resolve) => {
    child.on("error", (error) => resolve(unanswered(error)));
    child.on("exit", () => {
      endGroup(child);
      closing = setTimeout(() => closeOutput(child), graceMs);
    });
    child.on("close", (code) => {
      const durationMs = performance.now() - startedAt;
      const { stdout, stderr } = output;
      resolve({ kind: "ran", exitCode: code ?? 128, stdout: stdout(), stderr: stderr(), timedOut, durationMs });
    });
  }).finally(() => {
    clearTimeout(timer);
    clearTimeout(closing);
    if (child.pid !== undefined) processes.ended(child.pid);
    signal.removeEventListener("abort", stop);
  });
}

const unanswered = ({ message }: Error): HookRun => ({ kind: "unanswered", reason: message, durationMs: 0 });

const graceMs = 200;

/** A grandchild that left the group may hold the pipes open forever; its later output is not the hook's answer. */
function closeOutput({ stdout, stderr }: ChildProcess): void {
  stdout?.destroy();
  stderr?.destroy();
}

function environmentOf({ definition, environment }: HookRequest, options: ProcessOptions): NodeJS.ProcessEnv {
  const { projectRoot, version, processes, programs } = options;
  const hookVariables =
    definition.dialect === "platform"
      ? { PLATFORM_PROJECT_DIR: projectRoot, PLATFORM_VERSION: version }
      : { AGENT_PROJECT_DIR: projectRoot };
  return {
    ...programs.environment(options.environment),
    ...environment,
    ...hookVariables,
    ...processes.variables,
    ...withoutProfiles,
  };
}

/** As the first shell that is started by a socket, bash reads ~/.bashrc; zsh always reads ~/.zshenv. */
const withoutProfiles = { SHLVL: "1", ZDOTDIR: "/dev/null" };

const maxCharacters = 1_048_576;

/** More than this is dropped. */
function collect(stream: NodeJS.ReadableStream): () => string {
  const pieces: Buffer[] = [];
  let length = 0;
  stream.on("data", (piece: Buffer) => {
    if (length < maxCharacters) pieces.push(piece);
    length += piece.length;
  });
  return () => Buffer.concat(pieces).toString("utf8").slice(0, maxCharacters);
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has ended.
  }
}
