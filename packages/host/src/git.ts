// git on the host, over files an agent may have written: nothing the repository or the user configures is run or changes
// the output. Every own call of git goes through here.
import { type ChildProcess, spawn } from "node:child_process";
import { type HostPrograms, toolEnvironment } from "@agentcli/workspace";
import {
  asVariables,
  misleadingVariables,
  neutralVariables,
  subcommandAt,
  withNeutralFlags,
  withoutPrograms,
} from "./git-settings.ts";

/** Environment variables that git inherits. */
export interface GitEnvironment {
  variables: NodeJS.ProcessEnv;
  userHome: string;
  programs: HostPrograms;
}

export interface GitRequest {
  directory: string;
  args: string[];
  environment: GitEnvironment;
  input?: Buffer;
  /** Used instead of the repository's index. */
  indexFile?: string;
  /** After which git and everything it started is killed; five minutes unless given. */
  limitMs?: number;
  signal?: AbortSignal;
}

export interface GitResult {
  code: number;
  stdout: Buffer;
  stderr: string;
}

/** Resolves with the output and exit code of git; throws if it could not run to its end. */
export async function git(request: GitRequest): Promise<GitResult> {
  const stdout: Buffer[] = [];
  const end = await streamGit(request, (chunk) => void stdout.push(chunk), maxBytes);
  return { ...end, stdout: Buffer.concat(stdout) };
}

const maxBytes = 256 * 1024 * 1024;

/** As `git`, with its output passed on as it comes: it may be larger than memory. */
export async function streamGit(
  request: GitRequest,
  onChunk: (chunk: Buffer) => void,
  maxOutputBytes = Number.POSITIVE_INFINITY,
): Promise<Omit<GitResult, "stdout">> {
  const call = await prepareGit(request);
  if (call.kind === "refused") return call;
  return execute(request, call, limited(onChunk, maxOutputBytes));
}

function limited(onChunk: (chunk: Buffer) => void, maxOutputBytes: number) {
  let bytes = 0;
  return (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxOutputBytes) throw new Error(`git wrote more than ${maxOutputBytes / 1024 / 1024} MiB.`);
    onChunk(chunk);
  };
}

export interface GitCall {
  program: string;
  args: string[];
  env: NodeJS.ProcessEnv;
}

/** The call without anything that would be run; refused where that cannot be known. Throws ProgramNotFound. */
export async function prepareGit(
  request: GitRequest,
): Promise<({ kind: "ready" } & GitCall) | { kind: "refused"; code: number; stderr: string }> {
  const { directory, args, environment, indexFile } = request;
  // Agents work in this directory too, so no git below it is used.
  environment.programs.distrust([directory]);
  const program = environment.programs.find("git");
  const env = { ...neutralEnvironment(environment), ...(indexFile !== undefined && { GIT_INDEX_FILE: indexFile }) };
  const call = { program, args: withNeutralFlags(args), env };
  // It runs nothing, and is how the others learn what would be run.
  if (args[subcommandAt(args)] === "config") return { kind: "ready", ...call };
  const names: Buffer[] = [];
  const list = { program, args: withNeutralFlags(["config", "--list", "--name-only", "-z"]), env };
  const { code, stderr } = await execute({ ...request, input: undefined }, list, (chunk) => void names.push(chunk));
  if (code !== 0) return { kind: "refused", code, stderr };
  const settings = withoutPrograms(Buffer.concat(names).toString().split("\0"));
  if (settings === null)
    return { kind: "refused", code: 1, stderr: "The name of a filter in its settings is not text." };
  return { kind: "ready", ...call, env: { ...env, ...asVariables(settings, env) } };
}

/** Without keys. */
function neutralEnvironment({ variables, userHome, programs }: GitEnvironment): NodeJS.ProcessEnv {
  const kept = Object.entries(toolEnvironment(variables, { home: userHome })).filter(
    ([name]) => !misleadingVariables.test(name),
  );
  return { ...programs.environment(Object.fromEntries(kept)), ...neutralVariables };
}

/** In a process group of its own, without a terminal. All of the group is killed at the limit, on abort and on exit. */
function execute(
  { directory, args, input, signal, limitMs = defaultLimitMs }: GitRequest,
  call: GitCall,
  onChunk: (chunk: Buffer) => void,
): Promise<Omit<GitResult, "stdout">> {
  if (signal?.aborted) return Promise.reject(aborted());
  const child = spawn(call.program, call.args, { cwd: directory, env: call.env, detached: true });
  running.add(child);
  const name = `git ${args[subcommandAt(args)]}`;
  const timer = setTimeout(
    () => stop(new Error(`${name} took longer than ${limitMs / 1000} s and was stopped.`)),
    limitMs,
  );
  const onAbort = () => stop(aborted());
  signal?.addEventListener("abort", onAbort);
  let stop = (_: Error) => {};
  const ended = new Promise<Omit<GitResult, "stdout">>((resolve, reject) => {
    stop = (error) => {
      killGroup(child);
      reject(error);
    };
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => {
      try {
        onChunk(chunk);
      } catch (error) {
        stop(error as Error);
      }
    });
    child.stderr.on("data", (chunk: Buffer) => {
      if (stderr.length < maxErrorLength) stderr += chunk;
    });
    child.on("error", reject);
    child.on("close", (code, endedBy) =>
      code === null ? reject(new Error(`${name} was ended by ${endedBy}.`)) : resolve({ code, stderr }),
    );
  });
  // If git ends early it closes its input; its exit code says more than the broken pipe.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return ended.finally(() => {
    running.delete(child);
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  });
}

const defaultLimitMs = 300_000;
const maxErrorLength = 10_000;

const aborted = (): Error => Object.assign(new Error("git was aborted."), { name: "AbortError", code: "ABORT_ERR" });

/** Nothing of theirs outlives this program, unless it is killed itself. */
const running = new Set<ChildProcess>();
process.on("exit", () => running.forEach(killGroup));

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // All of it has ended.
  }
}
