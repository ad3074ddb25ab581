// git on the host, over files an agent may have written: nothing the repository or the user configures is run or changes the output.
import { execFile } from "node:child_process";
import { toolEnvironment } from "@agentcli/workspace";
import type { Environment } from "./environment.ts";

export interface GitRequest {
  directory: string;
  args: string[];
  environment: Environment;
  input?: Buffer;
  /** Used in place of the repository's index. */
  indexFile?: string;
  signal?: AbortSignal;
}

export interface GitResult {
  code: number;
  stdout: Buffer;
  stderr: string;
}

/** Settles with whatever git says; throws where it could not be run to its end. */
export function git({ directory, args, environment, input, indexFile, signal }: GitRequest): Promise<GitResult> {
  const env = { ...neutralEnvironment(environment), ...(indexFile !== undefined && { GIT_INDEX_FILE: indexFile }) };
  const options = { cwd: directory, env, encoding: "buffer", maxBuffer: mostBytes, signal } as const;
  return new Promise((resolve, reject) => {
    const child = execFile("git", [...neutralFlags, ...args], options, (error, stdout, stderr) => {
      const code = error ? error.code : 0;
      return typeof code === "number" ? resolve({ code, stdout, stderr: stderr.toString() }) : reject(error);
    });
    // A git that ends early closes its input; how it ended says more than the broken pipe.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}

export const mostBytes = 256 * 1024 * 1024;

export const neutralFlags = [
  // A name is a name, also with a star in it.
  "--literal-pathspecs",
  ...[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.quotePath=false",
    "diff.external=",
    "diff.suppressBlankEmpty=false",
  ].flatMap((setting) => ["-c", setting]),
];

/** Inside a git hook these name another index or directory than the one that was asked for. */
const misleading = /^GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX|NAMESPACE|EXTERNAL_DIFF|DIFF_OPTS|PAGER|TRACE.*)$/;

/** Without keys: a filter that the user configured runs all the same. */
export function neutralEnvironment({ variables, userHome }: Environment): NodeJS.ProcessEnv {
  const kept = Object.entries(toolEnvironment(variables, { home: userHome })).filter(
    ([name]) => !misleading.test(name),
  );
  return { ...Object.fromEntries(kept), GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" };
}
