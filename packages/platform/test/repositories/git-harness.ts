// A data directory with workspaces over real git servers, for one test.
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type TemporaryDirectory, temporaryDirectory, temporaryRepository } from "@agentcli/testkit";
import { openNetworkPolicy } from "../../src/foundation/network/index.ts";
import {
  type AccessRules,
  type Github,
  type OwnRepositories,
  openSourceHosts,
  type SourceHosts,
} from "../../src/repositories/scm/index.ts";
import {
  type AgentWork,
  defaultLimits,
  type Locks,
  openWorkspaces,
  type RepositoryLimits,
  type Workspaces,
} from "../../src/repositories/workspaces/index.ts";

export interface GitHarness {
  data: string;
  /** Directory of the bare repositories that test servers serve. */
  served: string;
  sources: SourceHosts;
  workspaces: Workspaces;
  /** Creates a bare repository below `served` with these files on `main`. */
  makeRepository(name: string, files?: Record<string, string>): Promise<ServedRepository>;
  remove(): Promise<void>;
}

export interface ServedRepository {
  directory: string;
  git(...args: string[]): Promise<string>;
  /** Adds a commit to a branch on the server. */
  commit(branch: string, files: Record<string, string>): Promise<string>;
}

export interface GitHarnessOptions {
  allowPrivate?: string[];
  /** Host names and their addresses, instead of the system resolver. */
  names?: Record<string, string[]>;
  limits?: Partial<RepositoryLimits>;
  own?: OwnRepositories;
  github?: Github;
  rules?: AccessRules;
  locks?: Locks;
}

export const identity = { name: "Platform Agent", email: "agent@platform.invalid" };

export async function openGitHarness(options: GitHarnessOptions = {}): Promise<GitHarness> {
  const home = await temporaryDirectory();
  const [data, served] = [join(home.path, "data"), join(home.path, "served")];
  await mkdir(served);
  const policy = openNetworkPolicy({
    allowPrivate: options.allowPrivate ?? ["127.0.0.0/8"],
    ...(options.names && { resolve: async (name) => options.names?.[name] ?? [] }),
  });
  const sources = openSourceHosts({
    policy,
    sshDirectory: join(data, "ssh"),
    own: options.own ?? noOwnRepositories,
    rules: options.rules ?? noRules,
    github: options.github ?? null,
  });
  const limits = { ...defaultLimits, ...options.limits };
  const workspaces = openWorkspaces({
    dataDirectory: data,
    sources,
    locks: options.locks ?? noLocks,
    limits,
    identity,
    findPushed: async () => null,
  });
  return {
    data,
    served,
    sources,
    workspaces,
    makeRepository: (name, files) => makeRepository({ home, served }, name, files),
    remove: home.remove,
  };
}

export const noRules: AccessRules = { refusal: async () => undefined };

const noOwnRepositories: OwnRepositories = { nameOf: async () => undefined, open: async () => undefined };

/** For tests without concurrent work. */
const noLocks: Locks = { hold: (_name, work) => work() };

async function makeRepository(
  { home, served }: { home: TemporaryDirectory; served: string },
  name: string,
  files?: Record<string, string>,
): Promise<ServedRepository> {
  const origin = await temporaryRepository(files);
  const directory = join(served, `${name}.git`);
  const run = promisify(execFile);
  await run("git", ["clone", "--quiet", "--bare", origin.path, directory], { cwd: home.path });
  const git = async (...args: string[]) => (await run("git", args, { cwd: directory })).stdout;
  await git("config", "uploadpack.allowFilter", "true");
  await origin.remove();
  return { directory, git, commit: (branch, changes) => commitTo(directory, branch, changes) };
}

async function commitTo(directory: string, branch: string, files: Record<string, string>): Promise<string> {
  const work = await temporaryDirectory(files);
  const run = promisify(execFile);
  const environment = {
    ...process.env,
    GIT_DIR: directory,
    GIT_WORK_TREE: work.path,
    GIT_INDEX_FILE: join(work.path, ".index"),
    GIT_AUTHOR_NAME: "Test",
    GIT_AUTHOR_EMAIL: "test@example.com",
    GIT_COMMITTER_NAME: "Test",
    GIT_COMMITTER_EMAIL: "test@example.com",
  };
  const git = async (...args: string[]) => (await run("git", args, { cwd: work.path, env: environment })).stdout.trim();
  const tip = await git("rev-parse", "--verify", "--quiet", `refs/heads/${branch}`).catch(() =>
    git("rev-parse", "HEAD"),
  );
  await git("read-tree", tip);
  await git("update-index", "--add", "--", ...Object.keys(files));
  const commit = await git("commit-tree", await git("write-tree"), "-p", tip, "-m", "By the test");
  await git("update-ref", `refs/heads/${branch}`, commit);
  await work.remove();
  return commit;
}

let count = 0;

/** The work of a new agent. */
export function agentWork(work: Partial<AgentWork> = {}): AgentWork {
  count += 1;
  const agentId = `bc-00000000-0000-4000-8000-${String(count).padStart(12, "0")}`;
  return {
    agentId,
    directory: agentId,
    teamId: 1,
    name: "Fix the failing test",
    repos: [],
    workOnCurrentBranch: false,
    ...work,
  };
}

export const never = (): AbortSignal => new AbortController().signal;
