// Clones the repositories of an agent that begins. The token of the run is in the environment of git alone: not in a file of
// the clone, not in the list of processes, and not in the message of a failure.
import { execFile } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ClonedRepository, WorkerRequest } from "@agentcli/protocol/worker-link";
import { clonesOf } from "./files.ts";
import { operatorVariables } from "./operator-variables.ts";

export interface CloneOptions {
  dataDirectory: string;
  /** Of the worker: its proxy, and its certificate authority of git. */
  variables: NodeJS.ProcessEnv;
  /** Ends all clones that still go on. Absent: after ten minutes. */
  deadline?: AbortSignal;
}

interface CloneAnswer {
  /** Names of their directories. */
  cloned: string[];
  failed: { name: string; message: string }[];
}

/** Beside the files of the agent, in place of earlier clones. */
export async function cloneRepositories(
  { agent, repositories }: WorkerRequest<"repos.clone">,
  { dataDirectory, variables, deadline = AbortSignal.timeout(timeoutMs) }: CloneOptions,
): Promise<CloneAnswer> {
  const clones = clonesOf(dataDirectory, agent);
  await rm(clones, { recursive: true, force: true });
  await mkdir(clones, { recursive: true, mode: 0o700 });
  const answer: CloneAnswer = { cloned: [], failed: [] };
  for (const repository of repositories) {
    const { name, token } = repository;
    const path = join(clones, name);
    const env = gitEnvironment(repository, operatorVariables(variables, join(dataDirectory, "agents")));
    try {
      await clone(repository, { path, env, signal: deadline });
      answer.cloned.push(name);
    } catch (error) {
      await rm(path, { recursive: true, force: true });
      const message = deadline.aborted ? lateText : failureText(error as GitError, token);
      answer.failed.push({ name, message });
    }
  }
  return answer;
}

/** For all repositories together: the platform waits a minute longer for the answer, and then ends the run. */
const timeoutMs = 600_000;
const execute = promisify(execFile);

interface GitRun {
  path: string;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

async function clone({ url, branch, commit }: ClonedRepository, { path, env, signal }: GitRun): Promise<void> {
  const git = async (...args: string[]) => {
    const { stdout } = await execute("git", args, { cwd: path, env, signal, killSignal: "SIGKILL" });
    return stdout;
  };
  await mkdir(path, { mode: 0o700 });
  await git("init", "-q", "--template=", `--object-format=${commit.length === 64 ? "sha256" : "sha1"}`);
  const fetch = (...wanted: string[]) =>
    git("fetch", "-q", "--no-write-fetch-head", "--end-of-options", url, ...wanted);
  await fetch("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*");
  const hasCommit = git("cat-file", "-e", `${commit}^{commit}`);
  await hasCommit.catch(() => fetch(commit));
  await git("update-ref", `refs/heads/${branch}`, commit);
  await git("pack-refs", "--all");
  await git("read-tree", "-u", "--reset", commit);
}

/** No configuration, program or login of the operator, and none that the repository could name. */
function gitEnvironment({ url, token }: ClonedRepository, variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const config: [key: string, value: string][] = [
    ["core.hooksPath", "/dev/null"],
    ["core.fsmonitor", "false"],
    ["core.logAllRefUpdates", "false"],
    ["credential.helper", ""],
    ["gc.auto", "0"],
    ["maintenance.auto", "false"],
    ["submodule.recurse", "false"],
    ["fetch.recurseSubmodules", "false"],
    // One pack instead of many files.
    ["fetch.unpackLimit", "1"],
    // The token would be sent there too.
    ["http.followRedirects", "false"],
    ["http.lowSpeedLimit", "1000"],
    ["http.lowSpeedTime", "60"],
    ...(token === undefined ? [] : [authorization(url, token)]),
  ];
  const others = Object.entries(variables).filter(([name]) => !name.startsWith("GIT_") || name === "GIT_SSL_CAINFO");
  return {
    ...Object.fromEntries(others),
    ...{ HOME: "/nonexistent", XDG_CONFIG_HOME: "/nonexistent", LC_ALL: "C" },
    ...{ GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", GIT_ATTR_NOSYSTEM: "1" },
    ...{ GIT_TERMINAL_PROMPT: "0", GIT_ASKPASS: "/bin/false", GIT_ALLOW_PROTOCOL: "http:https" },
    ...{ GIT_NO_REPLACE_OBJECTS: "1", GIT_ALLOC_LIMIT: "1g", GIT_CONFIG_COUNT: String(config.length) },
    ...Object.fromEntries(config.map(([key], index) => [`GIT_CONFIG_KEY_${index}`, key])),
    ...Object.fromEntries(config.map(([, value], index) => [`GIT_CONFIG_VALUE_${index}`, value])),
  };
}

const loginOf = (token: string): string => Buffer.from(`x-access-token:${token}`).toString("base64");

const authorization = (url: string, token: string): [string, string] => [
  `http.${new URL(url).origin}/.extraHeader`,
  `Authorization: Basic ${loginOf(token)}`,
];

const lateText = `git did not end within ${timeoutMs / 60_000} minutes for all repositories together.`;

type GitError = Error & { stderr?: string };

function failureText({ stderr = "", message }: GitError, token: string | undefined): string {
  const line = stderr.trim().split("\n").at(-1) || message;
  return token === undefined ? line : line.replaceAll(token, "[REDACTED]").replaceAll(loginOf(token), "[REDACTED]");
}
