// Runs git on the host, in a repository whose files the model may have written: no hooks, no helpers, no network.
import { spawn } from "node:child_process";
import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { contains } from "./plan.ts";

export interface HostGit {
  /** Standard output; throws with what git said when it fails. */
  run(args: string[], input?: Buffer): Promise<string>;
  succeeds(args: string[]): Promise<boolean>;
}

export interface HostGitOptions {
  /** Where programs are looked for. */
  path: string;
  /** A program in here is not trusted: the model may have written it. */
  untrusted: string[];
  gitDirectory: string;
}

const limitMs = 120_000;

/** Neither the user's nor the system's configuration is needed for what this does. */
const environment = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_COUNT: "3",
  GIT_CONFIG_KEY_0: "core.hooksPath",
  GIT_CONFIG_VALUE_0: "/dev/null",
  GIT_CONFIG_KEY_1: "core.fsmonitor",
  GIT_CONFIG_VALUE_1: "false",
  GIT_CONFIG_KEY_2: "gc.auto",
  GIT_CONFIG_VALUE_2: "0",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_LAZY_FETCH: "1",
  GIT_TERMINAL_PROMPT: "0",
  // The log of the branch names who moved it; the commit itself has its author.
  GIT_COMMITTER_NAME: "agentcli",
  GIT_COMMITTER_EMAIL: "agentcli@localhost",
  LC_ALL: "C",
};

/** Undefined where there is no git to be trusted. */
export function openHostGit({ path, untrusted, gitDirectory }: HostGitOptions): HostGit | undefined {
  const program = findGit(path, untrusted);
  if (program === undefined) return undefined;

  async function attempt(args: string[], input?: Buffer): Promise<{ code: number | null; out: string; said: string }> {
    const child = spawn(program ?? "", [`--git-dir=${gitDirectory}`, ...args], {
      cwd: gitDirectory,
      env: { ...environment, PATH: path },
      timeout: limitMs,
      killSignal: "SIGKILL",
    });
    const [out, said]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on("data", (data: Buffer) => out.push(data));
    child.stderr.on("data", (data: Buffer) => said.push(data));
    // It may end before it has read all; its exit tells.
    child.stdin.on("error", () => {});
    child.stdin.end(input ?? "");
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", resolve);
    });
    return { code, out: Buffer.concat(out).toString(), said: Buffer.concat(said).toString().trim() };
  }

  return {
    async run(args, input) {
      const { code, out, said } = await attempt(args, input);
      if (code !== 0) throw new Error(said || `git ${args[0]} exited with code ${code}.`);
      return out;
    },
    succeeds: async (args) => (await attempt(args)).code === 0,
  };
}

function findGit(path: string, untrusted: string[]): string | undefined {
  const places = path.split(delimiter).filter((place) => place.startsWith("/"));
  return places
    .flatMap((place) => resolveProgram(join(place, "git")))
    .find((program) => !untrusted.some((root) => contains(root, program)));
}

function resolveProgram(path: string): string[] {
  try {
    accessSync(path, constants.X_OK);
    return [realpathSync(path)];
  } catch {
    return [];
  }
}
