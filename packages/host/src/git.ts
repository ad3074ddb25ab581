// git on the host, over files an agent may have written: nothing the repository or the user configures is run or changes the output.
import { execFile, spawn } from "node:child_process";
import { type HostPrograms, toolEnvironment } from "@agentcli/workspace";

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
  /** Over those of every file. A name may contain `=`, which `-c` could not express. */
  settings?: { key: string; value: string }[];
  /** Objects that are missing here are not fetched. */
  isOffline?: boolean;
  signal?: AbortSignal;
}

export interface GitResult {
  code: number;
  stdout: Buffer;
  stderr: string;
}

/** Agents work in this directory too, so no git below it is used. Throws ProgramNotFound. */
export function findGit({ directory, environment: { programs } }: GitRequest): string {
  programs.distrust([directory]);
  return programs.find("git");
}

/** Resolves with the output and exit code of git; throws if it could not run to its end. */
export async function git(request: GitRequest): Promise<GitResult> {
  const { directory, args, input, signal } = request;
  const program = findGit(request);
  const options = {
    cwd: directory,
    env: requestEnvironment(request),
    encoding: "buffer",
    maxBuffer: maxBytes,
    signal,
  } as const;
  return new Promise((resolve, reject) => {
    const child = execFile(program, [...neutralFlags, ...args], options, (error, stdout, stderr) => {
      const code = error ? error.code : 0;
      return typeof code === "number" ? resolve({ code, stdout, stderr: stderr.toString() }) : reject(error);
    });
    // If git ends early it closes its input; its exit code says more than the broken pipe.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}

/** As `git`, with its output passed on as it comes: it may be larger than memory. */
export async function streamGit(
  request: Omit<GitRequest, "input">,
  onChunk: (chunk: Buffer) => void,
): Promise<Omit<GitResult, "stdout">> {
  const { directory, args, signal } = request;
  const options = { cwd: directory, env: requestEnvironment(request), signal };
  const child = spawn(findGit(request), [...neutralFlags, ...args], { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let stderr = "";
  child.stdout.on("data", onChunk);
  child.stderr.on("data", (chunk: Buffer) => {
    if (stderr.length < maxErrorLength) stderr += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, stderr }));
  });
}

const maxErrorLength = 10_000;

function requestEnvironment(request: Omit<GitRequest, "input">): NodeJS.ProcessEnv {
  const { environment, indexFile, settings = [], isOffline } = request;
  return {
    ...neutralEnvironment(environment),
    ...(indexFile !== undefined && { GIT_INDEX_FILE: indexFile }),
    ...(settings.length > 0 && { GIT_CONFIG_COUNT: String(settings.length) }),
    ...Object.fromEntries(
      settings.flatMap(({ key, value }, index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
    ...(isOffline && { GIT_ALLOW_PROTOCOL: "none", GIT_NO_LAZY_FETCH: "1" }),
  };
}

const maxBytes = 256 * 1024 * 1024;

export const neutralFlags = [
  // Paths are literal: a * in one is not a pattern.
  "--literal-pathspecs",
  ...[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.quotePath=false",
    "diff.external=",
    "diff.suppressBlankEmpty=false",
    // A look into a submodule would run git there, under a configuration the agent may have written.
    "diff.ignoreSubmodules=dirty",
    "submodule.recurse=false",
  ].flatMap((setting) => ["-c", setting]),
];

/** Inside a git hook these variables point to another index or directory than the requested one. */
const misleading = /^GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX|NAMESPACE|EXTERNAL_DIFF|DIFF_OPTS|PAGER|TRACE.*)$/;

/** Without keys: a filter that the user configured runs all the same. */
export function neutralEnvironment({ variables, userHome, programs }: GitEnvironment): NodeJS.ProcessEnv {
  const kept = Object.entries(toolEnvironment(variables, { home: userHome })).filter(
    ([name]) => !misleading.test(name),
  );
  return {
    ...programs.environment(Object.fromEntries(kept)),
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    LC_ALL: "C",
  };
}
