// git on the host, over files an agent may have written: nothing the repository configures is run.
import { execFile } from "node:child_process";

export interface GitResult {
  code: number;
  stdout: string;
  stderr: string;
}

const neutral = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.pager=cat",
  "core.quotePath=false",
  "diff.external=",
];
const mostBytes = 256 * 1024 * 1024;

export function git(cwd: string, args: string[]): Promise<GitResult> {
  const options = neutral.flatMap((setting) => ["-c", setting]);
  const env = { ...process.env, GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", GIT_EXTERNAL_DIFF: undefined };
  return new Promise((resolve, reject) => {
    execFile("git", [...options, ...args], { cwd, env, maxBuffer: mostBytes }, (error, stdout, stderr) => {
      const code = error ? error.code : 0;
      return typeof code === "number" ? resolve({ code, stdout, stderr }) : reject(error);
    });
  });
}
