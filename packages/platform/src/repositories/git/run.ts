// Runs git on the host. Every call is bounded: by a time limit, an output limit and the caller's abort signal.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { findProgram, keepLooks, type ProgramSearch, trustedPath } from "@agentcli/workspace";
import { type GitLocation, gitEnvironment } from "./environment.ts";
import { type Command, fenced } from "./fence.ts";
import type { GitRemote } from "./remote.ts";

export interface GitCall {
  location: GitLocation;
  args: string[];
  /** For `sh`, instead of git itself: runs git, whose path is `$0`, several times in one fence. `args` are its arguments. */
  script?: string;
  input?: string | Buffer;
  /** If omitted, git can reach neither the network nor another repository. */
  remote?: GitRemote;
  variables?: Record<string, string>;
  limitMs?: number;
  /** Called periodically while git runs. If it throws, git is killed and the call rejects with that error. */
  guard?: () => void;
}

export interface GitResult {
  code: number;
  out: Buffer;
  /** Trimmed; only the last part of a long output. */
  stderr: string;
}

export class GitFailed extends Error {
  override name = "GitFailed";
  readonly command: string;
  readonly stderr: string;

  constructor(command: string, stderr: string) {
    super(`git ${command} failed: ${stderr || "no error output"}`);
    this.command = command;
    this.stderr = stderr;
  }
}

const defaultLimitMs = 120_000;
export const maxOutputBytes = 256 * 1024 * 1024;
const maxStderrCharacters = 64 * 1024;
const guardIntervalMs = 100;

/** Returns git's standard output as text. Throws GitFailed if git exits with an error. */
export async function runGit(call: GitCall, signal?: AbortSignal): Promise<string> {
  const { code, out, stderr } = await askGit(call, signal);
  if (code !== 0) throw new GitFailed(call.args[0] ?? "", stderr);
  return out.toString();
}

export const gitSucceeds = async (call: GitCall, signal?: AbortSignal): Promise<boolean> =>
  (await askGit(call, signal)).code === 0;

export async function askGit(call: GitCall, signal?: AbortSignal): Promise<GitResult> {
  signal?.throwIfAborted();
  const child = startGit(call);
  const out: Buffer[] = [];
  let size = 0;
  child.stdout.on("data", (data: Buffer) => {
    size += data.length;
    if (size > maxOutputBytes) child.destroy(new GitWroteTooMuch(call.args[0] ?? ""));
    else out.push(data);
  });
  child.stdin.end(call.input ?? "");
  const { code, stderr } = await child.ended(call, signal);
  return { code, out: Buffer.concat(out), stderr };
}

export type RunningGit = Pick<ChildProcessWithoutNullStreams, "stdin" | "stdout"> & {
  /** Kills git and all its child processes; `ended` rejects with the reason. */
  destroy(reason: Error): void;
  /** Resolves when git exits by itself, with any exit code. */
  ended(
    limits: Pick<GitCall, "limitMs" | "guard" | "args">,
    signal?: AbortSignal,
  ): Promise<{ code: number; stderr: string }>;
};

/** Gives access to the streams. The caller must await `ended` right away. */
export function startGit(call: GitCall): RunningGit {
  const { location, remote, variables = {} } = call;
  const search = searchFor(location);
  const path = trustedPath(search);
  const command = commandFor(call, search);
  const child = spawn(command.program, command.args, {
    cwd: location.workTree ?? "/",
    env: gitEnvironment({ location, remote, variables, path }),
    // A separate process group, so that git's child processes are killed with it.
    detached: true,
  });
  let stderr = "";
  let reason: Error | undefined;
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = `${stderr}${text}`.slice(-maxStderrCharacters);
  });
  // Git may exit before it has read all input; the exit code reports the result.
  child.stdin.on("error", () => {});
  const closed = new Promise<number>((resolve, reject) => {
    child.on("error", (error) =>
      reject(
        new Error(`git could not be started: ${error.message}. Install git: agents work on repositories.`, {
          cause: error,
        }),
      ),
    );
    child.on("close", (code) => (reason ? reject(reason) : resolve(code ?? 1)));
  });
  // A caller that never awaits `ended` must not cause an unhandled rejection.
  closed.catch(() => {});
  const destroy = (error: Error): void => {
    reason ??= error;
    killGroup(child.pid);
  };
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    destroy,
    async ended({ limitMs = defaultLimitMs, guard, args }, signal) {
      const limit = setTimeout(() => destroy(new GitTookTooLong(args[0] ?? "", limitMs)), limitMs);
      const watch = guard && setInterval(() => checkGuard(guard, destroy), guardIntervalMs);
      const stop = () => destroy(signal?.reason);
      signal?.addEventListener("abort", stop);
      try {
        const code = await closed;
        guard?.();
        return { code, stderr: stderr.trim() };
      } finally {
        clearTimeout(limit);
        clearInterval(watch);
        signal?.removeEventListener("abort", stop);
      }
    },
  };
}

// A run with a repository starts git a few times: hundreds of looks at PATH without this.
const looks = keepLooks(1_000);

/** The server's own PATH. Agents write to work trees, so nothing in one is run. */
const searchFor = ({ workTree, fence }: GitLocation): ProgramSearch => ({
  path: process.env.PATH ?? "/usr/bin:/bin",
  untrusted: [...(workTree === undefined ? [] : [workTree]), ...(fence?.reads ?? []), ...(fence?.writes ?? [])],
  looks,
});

/** Where there is no git, the attempt to start it fails, and the error says what to do. */
function commandFor({ args, script, location: { fence } }: GitCall, search: ProgramSearch): Command {
  const git = findProgram("git", search);
  const program = script === undefined ? git : findProgram("sh", search);
  if (git === undefined || program === undefined) return { program: "/nonexistent/git", args };
  const command = { program, args: script === undefined ? args : ["-c", script, git, ...args] };
  return fence === undefined ? command : fenced(command, { git, fence, bubblewrap: findProgram("bwrap", search) });
}

export class GitTookTooLong extends Error {
  override name = "GitTookTooLong";

  constructor(command: string, limitMs: number) {
    super(`git ${command} was ended after ${limitMs} ms.`);
  }
}

export class GitWroteTooMuch extends Error {
  override name = "GitWroteTooMuch";

  constructor(command: string) {
    super(`git ${command} wrote more than ${maxOutputBytes / 1024 / 1024} MiB.`);
  }
}

function checkGuard(guard: () => void, destroy: (reason: Error) => void): void {
  try {
    guard();
  } catch (error) {
    destroy(error as Error);
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
