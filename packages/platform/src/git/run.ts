// Runs git on the host. Every call has an end: a time limit, a limit of output, and whoever asked may stop it.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { type GitPlace, gitEnvironment } from "./environment.ts";
import { fencedGit } from "./fence.ts";
import type { GitRemote } from "./remote.ts";

export interface GitCall {
  place: GitPlace;
  args: string[];
  input?: string | Buffer;
  /** Without one, no network and no other repository can be reached. */
  remote?: GitRemote;
  variables?: Record<string, string>;
  limitMs?: number;
  /** Looked at while git works; what it throws ends the call. */
  guard?: () => void;
}

export interface GitAnswer {
  code: number;
  out: Buffer;
  /** What git said to the person. */
  said: string;
}

export class GitFailed extends Error {
  override name = "GitFailed";
  readonly said: string;

  constructor(command: string, said: string) {
    super(`git ${command} failed: ${said || "it said nothing"}`);
    this.said = said;
  }
}

const usualLimitMs = 120_000;
const mostOutputBytes = 256 * 1024 * 1024;
const mostSaidCharacters = 64 * 1024;
const guardEveryMs = 100;

/** What git answered, as text. Throws GitFailed where it failed. */
export async function runGit(call: GitCall, signal?: AbortSignal): Promise<string> {
  const { code, out, said } = await askGit(call, signal);
  if (code !== 0) throw new GitFailed(call.args[0] ?? "", said);
  return out.toString();
}

export const gitSucceeds = async (call: GitCall, signal?: AbortSignal): Promise<boolean> =>
  (await askGit(call, signal)).code === 0;

export async function askGit(call: GitCall, signal?: AbortSignal): Promise<GitAnswer> {
  signal?.throwIfAborted();
  const child = startGit(call);
  const out: Buffer[] = [];
  let size = 0;
  child.stdout.on("data", (data: Buffer) => {
    size += data.length;
    if (size > mostOutputBytes)
      child.destroy(new Error(`git ${call.args[0]} wrote more than ${mostOutputBytes} bytes`));
    else out.push(data);
  });
  child.stdin.end(call.input ?? "");
  const { code, said } = await child.ended(call, signal);
  return { code, out: Buffer.concat(out), said };
}

export type RunningGit = Pick<ChildProcessWithoutNullStreams, "stdin" | "stdout"> & {
  /** Ends git and all that it started; `ended` rejects with the reason. */
  destroy(reason: Error): void;
  /** Resolves when git has ended by itself, whatever its code. */
  ended(
    limits: Pick<GitCall, "limitMs" | "guard" | "args">,
    signal?: AbortSignal,
  ): Promise<{ code: number; said: string }>;
};

/** For whoever wants the streams. The caller awaits `ended` in the same breath. */
export function startGit({ place, args, remote, variables = {} }: GitCall): RunningGit {
  // Looked for where the server itself would look.
  const path = process.env.PATH ?? "/usr/bin:/bin";
  const { fence } = place;
  const command = fence === undefined ? { program: "git", args } : fencedGit(args, fence, path);
  const child = spawn(command.program, command.args, {
    cwd: place.workTree ?? "/",
    env: gitEnvironment({ place, remote, variables, path }),
    // A group of its own: git starts others, and they end with it.
    detached: true,
  });
  let said = "";
  let reason: Error | undefined;
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = `${said}${text}`.slice(-mostSaidCharacters);
  });
  // It may end before it has read all; its exit tells.
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
  // Whoever never asks for the end must not bring the process down.
  closed.catch(() => {});
  const destroy = (why: Error): void => {
    reason ??= why;
    endGroup(child.pid);
  };
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    destroy,
    async ended({ limitMs = usualLimitMs, guard, args }, signal) {
      const limit = setTimeout(() => destroy(new GitTookTooLong(args[0] ?? "", limitMs)), limitMs);
      const watch = guard && setInterval(() => look(guard, destroy), guardEveryMs);
      const stop = () => destroy(signal?.reason);
      signal?.addEventListener("abort", stop);
      try {
        const code = await closed;
        guard?.();
        return { code, said: said.trim() };
      } finally {
        clearTimeout(limit);
        clearInterval(watch);
        signal?.removeEventListener("abort", stop);
      }
    },
  };
}

export class GitTookTooLong extends Error {
  override name = "GitTookTooLong";

  constructor(command: string, limitMs: number) {
    super(`git ${command} was ended after ${limitMs} ms.`);
  }
}

function look(guard: () => void, destroy: (reason: Error) => void): void {
  try {
    guard();
  } catch (error) {
    destroy(error as Error);
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
