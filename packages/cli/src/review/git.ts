// Questions to git about the repository under review; failures become messages for the user.
import { CommandError } from "@agentcli/command-line";
import { type GitRequest, git, maxBytes } from "@agentcli/host/git";
import type { Program } from "../program.ts";

/** Standard output of a command that must succeed. */
export type Git = (args: string[], options?: Pick<GitRequest, "input" | "indexFile">) => Promise<Buffer>;

export const openGit =
  (directory: string, { environment, signal }: Program): Git =>
  async (args, options) => {
    const request = { directory, args, environment, signal, ...options };
    const { code, stdout, stderr } = await git(request).catch((error: Error & { code?: unknown }) => {
      throw explain(error);
    });
    if (code === 0) return stdout;
    throw new GitRefusal("usage", `git ${args[0]} failed: ${stderr.trim() || `exit code ${code}`}`);
  };

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

function explain(error: Error & { code?: unknown }): Error {
  if (error.code === "ENOENT") return new CommandError("usage", "git is not installed here; a review needs it.");
  if (error.code === "ABORT_ERR") return new CommandError("failed", "Interrupted while the change was collected.");
  if (error.code !== "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return error;
  const most = `${maxBytes / 1024 / 1024} MiB`;
  return new CommandError(
    "usage",
    `The change is larger than ${most} as text. Review it commit by commit, or leave files out with .gitignore.`,
  );
}
