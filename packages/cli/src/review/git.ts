// Questions to git about the repository under review; failures become messages for the user.
import { CommandError } from "@agentcli/command-line";
import { type GitRequest, git, streamGit } from "@agentcli/host/git";
import type { Program } from "../program.ts";

/** Standard output of a command that must succeed. */
export type Git = (args: string[], options?: Pick<GitRequest, "input" | "indexFile">) => Promise<Buffer>;

type GitProgram = Pick<Program, "environment" | "signal">;

export const openGit =
  (directory: string, { environment, signal }: GitProgram): Git =>
  async (args, options) => {
    const { stdout, ...end } = await git({ directory, args, environment, signal, ...options }).catch(explain);
    succeed(args, end);
    return stdout;
  };

/** Standard output of a command that must succeed, as it comes. */
export type GitStream = (
  args: string[],
  options: { indexFile: string | undefined; onChunk(chunk: Buffer): void },
) => Promise<void>;

export const openGitStream =
  (directory: string, { environment, signal }: GitProgram): GitStream =>
  async (args, { indexFile, onChunk }) =>
    succeed(args, await streamGit({ directory, args, environment, signal, indexFile }, onChunk).catch(explain));

/** Null where git answers no: for questions such as whether a name is known. */
export async function ask(git: Git, args: string[]): Promise<string | null> {
  try {
    return (await git(args)).toString().trim();
  } catch (error) {
    if (error instanceof GitRefusal) return null;
    throw error;
  }
}

/** Git ran and ended with an error. */
class GitRefusal extends CommandError {}

function succeed(args: string[], { code, stderr }: { code: number; stderr: string }): void {
  if (code === 0) return;
  throw new GitRefusal("usage", `git ${subcommand(args)} failed: ${stderr.trim() || `exit code ${code}`}`);
}

const subcommand = (args: string[]): string | undefined =>
  args.find((arg, at) => arg !== "-c" && args[at - 1] !== "-c");

function explain(error: Error & { code?: unknown }): never {
  if (error.code === "ENOENT") throw new CommandError("usage", "git is not installed here; a review needs it.");
  if (error.code === "ABORT_ERR") throw new CommandError("failed", "Interrupted while the change was collected.");
  throw error;
}
