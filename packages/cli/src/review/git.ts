// Runs git to look at a repository. Nothing in it or in the user's configuration may start a program or change the output.
import { execFile } from "node:child_process";
import { toolEnvironment } from "@agentcli/workspace";
import { Problem } from "../problem.ts";
import type { Program } from "../program.ts";

/** Standard output of a command that must succeed. */
export type Git = (args: string[], options?: GitOptions) => Promise<Buffer>;

export interface GitOptions {
  input?: Buffer;
  /** Use this file in place of the repository's index. */
  indexFile?: string;
}

export function openGit(directory: string, { environment, signal }: Program): Git {
  const env = neutralEnvironment(toolEnvironment(environment.variables, { home: environment.userHome }));
  return (args, { input, indexFile } = {}) =>
    new Promise((resolve, reject) => {
      const options = {
        cwd: directory,
        env: indexFile === undefined ? env : { ...env, GIT_INDEX_FILE: indexFile },
        encoding: "buffer" as const,
        maxBuffer: mostBytes,
        signal,
      };
      const child = execFile("git", [...globalFlags, ...args], options, (error, stdout, stderr) =>
        error ? reject(explain(error, args, stderr.toString())) : resolve(stdout),
      );
      // A git that ends early closes its input; how it ended says more than the broken pipe.
      child.stdin?.on("error", () => {});
      child.stdin?.end(input);
    });
}

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
export class GitRefusal extends Problem {}

const mostBytes = 256 * 1024 * 1024;

const neutralConfiguration = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.quotePath=false",
  "diff.suppressBlankEmpty=false",
].flatMap((setting) => ["-c", setting]);

/** A name is a name, also with a star in it. */
const globalFlags = ["--literal-pathspecs", ...neutralConfiguration];

/** Inside a git hook these name another index or directory than the one that was asked for. */
const misleading = /^GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX|NAMESPACE|EXTERNAL_DIFF|DIFF_OPTS|PAGER|TRACE.*)$/;

const neutralEnvironment = (variables: Record<string, string>): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(variables).filter(([name]) => !misleading.test(name))),
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  LC_ALL: "C",
});

function explain(error: Error & { code?: unknown }, args: string[], stderr: string): Problem {
  if (error.code === "ENOENT") return new Problem("usage", "git is not installed here; a review needs it.");
  if (error.code === "ABORT_ERR") return new Problem("failed", "Interrupted while the change was collected.");
  if (error.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER")
    return new Problem(
      "usage",
      `The change is larger than ${mostBytes / 1024 / 1024} MiB as text. Review it commit by commit, or leave files out with .gitignore.`,
    );
  const told = stderr.trim() || error.message;
  return new GitRefusal("usage", `git ${args[0]} failed: ${told}`);
}
