// What the machine brings: Node, a home that can be written, git, and the programs a run makes use of.
import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import type { Environment, RunOptions } from "@agentcli/host";
import { findRepositoryRoot } from "@agentcli/workspace";
import { broken, doubtful, type Finding, fine } from "./finding.ts";

const oldestNode = [18, 19] as const;

export function examineNode(version: string): Finding {
  const [major = 0, minor = 0] = version.slice(1).split(".").map(Number);
  const isOld = major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]);
  return isOld
    ? broken("node", `${version} is too old`, `install Node ${oldestNode.join(".")} or newer`)
    : fine("node", version);
}

/** Less is not enough for the session of one run. */
const minHomeBytes = 1024 * 1024;
const minHomeFiles = 10;

export function examineHome(home: string): Finding {
  let directory = home;
  while (!existsSync(directory) && directory !== dirname(directory)) directory = dirname(directory);
  try {
    accessSync(directory, constants.W_OK);
  } catch {
    return broken("agent home", `${home} cannot be written`, `fix the permissions of ${directory}, or set AGENT_HOME`);
  }
  const { bavail, bsize, files, ffree } = statfsSync(directory);
  const isFull = bavail * bsize < minHomeBytes || (files > 0 && ffree < minHomeFiles);
  if (isFull) {
    const detail = `${home}: the disk is full (${Math.floor((bavail * bsize) / 1024)} KiB and ${ffree} files left)`;
    return broken("agent home", detail, `free some space on the disk of ${directory}, or set AGENT_HOME`);
  }
  return fine("agent home", existsSync(home) ? home : `${home} (created by the first run)`);
}

export async function examineGit(cwd: string, options: RunOptions, environment: Environment): Promise<Finding[]> {
  const version = await versionOf("git", environment);
  const program = version
    ? fine("git", version)
    : doubtful("git", "not found on PATH", "install git: the model cannot look at history or commit without it");
  const root = findRepositoryRoot(cwd);
  if (root) return [program, fine("repository", root)];
  if (options.skipGitCheck) return [program, doubtful("repository", `${cwd} is in none`, "run git init")];
  return [program, broken("repository", `${cwd} is in none`, "run git init, or use --skip-git-repo-check")];
}

const tools = { bash: "commands run in it", rg: "searching large trees is slower without ripgrep" };

export async function examineTools(environment: Environment): Promise<Finding[]> {
  const looks = Object.entries(tools).map(async ([name, use]) => {
    const version = await versionOf(name, environment);
    return version ? fine(name, version) : doubtful(name, "not found on PATH", `install ${name}: ${use}`);
  });
  return Promise.all(looks);
}

const versionLimitMs = 10_000;

/** The first line of what `--version` prints; undefined where there is no such program. */
async function versionOf(name: string, { variables, programs }: Environment): Promise<string | undefined> {
  try {
    const env = programs.environment(variables);
    const { stdout } = await promisify(execFile)(programs.find(name), ["--version"], { env, timeout: versionLimitMs });
    return stdout.split("\n")[0];
  } catch {
    return undefined;
  }
}
