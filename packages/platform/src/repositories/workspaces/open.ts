// Opens the workspace of an agent: missing repositories are fetched and checked out, existing ones are left unchanged.
import { randomUUID } from "node:crypto";
import { existsSync, lstatSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type AgentRepository, listNames, removeTree } from "../../foundation/index.ts";
import { layOut, RepositoryFault } from "../git/index.ts";
import { isReference, type SourceHosts } from "../scm/index.ts";
import { branchName } from "./branch-name.ts";
import { checkOut, keepHostSide, makeParent, prepareCommit } from "./checkout.ts";
import type { RepositoryLimits } from "./limits.ts";
import type { Locks } from "./lock.ts";
import type { Source } from "./mirror.ts";
import { followMove } from "./moved.ts";
import { borrowAgain, replaceDirectories } from "./replace.ts";
import { removedMark } from "./retention.ts";
import { openSource } from "./source.ts";
import { chooseStart, guessPullRequest, type PullRequestBranches, type StartingPoint } from "./starting-point.ts";
import type { AgentDirectories, AgentWork, OpenRepository, OpenWorkspace, Workspaces } from "./workspaces.ts";

export interface WorkspacesOptions {
  dataDirectory: string;
  sources: SourceHosts;
  locks: Locks;
  limits: RepositoryLimits;
  identity: { name: string; email: string };
  /** What the agent has pushed to this repository; null if nothing yet. */
  findPushed(agentId: string, url: string): Promise<PushedWork | null>;
}

/** From here an agent continues whose files were removed while it was archived. */
export interface PushedWork {
  branch: string;
  commit: string;
  baseBranch: string;
  baseCommit: string;
}

export function openWorkspaces(options: WorkspacesOptions): Workspaces {
  return {
    async open(agent, signal) {
      const directories = directoriesOf(agent.directory, options);
      await Promise.all([makeParent(directories.workspace), makeParent(directories.host)]);
      if (agent.repos.length === 0) return openEmpty(directories);
      const names = directoryNames(agent.repos, options.sources);
      const repositories: OpenRepository[] = [];
      for (const [index, repository] of agent.repos.entries())
        repositories.push(
          await openRepository({ agent, repository, name: names[index] ?? "", directories, options }, signal),
        );
      return openWorkspace(directories, repositories);
    },
    async find(directory) {
      const directories = directoriesOf(directory, options);
      if (!existsSync(directories.workspace)) return undefined;
      return openWorkspace(directories, await readExisting(directories));
    },
    async list() {
      const names = await Promise.all(parents.map((parent) => listNames(join(options.dataDirectory, parent))));
      return [...new Set(names.flat())].filter((name) => agentDirectory.test(name));
    },
    directories: (name) => directoriesOf(name, options),
    replace: ({ directory, teamId }, fill, signal) => {
      const directories = directoriesOf(directory, options);
      return replaceDirectories({
        directories,
        setAside: () => setAside(directories),
        async fill(drafts) {
          await fill(drafts);
          await borrowAgain(drafts.host, { teamId, options }, signal);
        },
      });
    },
    setAside: (name) => setAside(directoriesOf(name, options)),
    async remove(name) {
      await (await setAside(directoriesOf(name, options)))();
    },
  };
}

const parents = ["workspaces", "handoffs"] as const;
const agentDirectory = /^bc-[0-9a-f-]{36}$/i;

/** The host's side goes first: a workspace without it is removed like any other. */
async function setAside({ workspace, host }: AgentDirectories): Promise<() => Promise<void>> {
  const aside: string[] = [];
  for (const directory of [host, workspace]) {
    const path = join(dirname(directory), `${removedMark}${randomUUID()}`);
    if (await renamed(directory, path)) aside.push(path);
  }
  return async () => {
    for (const path of aside) await removeTree(path);
  };
}

/** False if it does not exist. */
async function renamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

function directoriesOf(name: string, { dataDirectory }: WorkspacesOptions): AgentDirectories {
  if (!agentDirectory.test(name)) throw new Error(`Invalid agent directory "${name}": expected bc-<uuid>.`);
  return { workspace: join(dataDirectory, "workspaces", name), host: join(dataDirectory, "handoffs", name) };
}

/** Directory name for an agent without repositories. */
const emptyName = "workspace";

/** Creates an empty repository. Without it, tools that search for the project root would find a repository further up. */
async function openEmpty({ workspace }: AgentDirectories): Promise<OpenWorkspace> {
  const root = join(workspace, emptyName);
  if (existsSync(root)) return { root, repositories: [] };
  const draft = join(workspace, `.draft-${randomUUID()}`);
  const nothing = { references: new Map(), config: [], borrowed: [] };
  await layOut(join(draft, ".git"), { objectFormat: "sha1", isPartial: false, head: "main", ...nothing });
  await renameOrDiscard(draft, root);
  return { root, repositories: [] };
}

const openWorkspace = ({ workspace }: AgentDirectories, repositories: OpenRepository[]): OpenWorkspace => {
  const [first, ...others] = repositories;
  if (first === undefined) return { root: join(workspace, emptyName), repositories };
  return { root: others.length === 0 ? first.path : workspace, repositories };
};

interface RepositoryContext {
  agent: AgentWork;
  repository: AgentRepository;
  name: string;
  directories: AgentDirectories;
  options: WorkspacesOptions;
}

async function openRepository(context: RepositoryContext, signal: AbortSignal): Promise<OpenRepository> {
  const { directories, name } = context;
  const path = join(directories.workspace, name);
  const hostDirectory = join(directories.host, `${name}.git`);
  if (!existsSync(path)) await makeRepository({ ...context, path, hostDirectory }, signal);
  return readFacts(hostDirectory, { path, name });
}

async function makeRepository(
  {
    agent,
    repository,
    directories,
    options,
    path,
    hostDirectory,
  }: RepositoryContext & { path: string; hostDirectory: string },
  signal: AbortSignal,
): Promise<void> {
  const { limits, identity } = options;
  const source = await openSource({ teamId: agent.teamId, url: repository.url }, options, signal);
  if (source.advertisement.references.size === 0)
    throw new RepositoryFault(
      "ref_not_found",
      `The repository ${repository.url} is empty. Push a first commit to it, or check the address, then start an agent.`,
    );
  const start =
    (await findPushedStart({ agent, repository, options, source }, signal)) ??
    (await findFirstStart({ agent, repository, options, source }, signal));
  const draft = join(directories.workspace, `.draft-${randomUUID()}`);
  try {
    await mkdir(draft);
    await checkOut({ path: draft, source, start, url: repository.url, limits, identity }, signal);
    // Create the host side first: if the agent's directory exists, both exist.
    const { branch, baseBranch } = start;
    const isOwnBranch = branch === ownBranch(agent);
    const { baseCommit, baseTree } = start;
    const facts: Facts = { url: repository.url, branch, isOwnBranch, baseBranch, baseCommit, baseTree };
    await keepHostSide(hostDirectory, {
      source,
      start,
      facts: JSON.stringify(facts),
      index: join(draft, ".git/index"),
    });
    await renameOrDiscard(draft, path);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

type KnownStart = StartingPoint & { baseCommit: string; baseTree: string };

async function findFirstStart(context: SourceContext & { source: Source }, signal: AbortSignal): Promise<KnownStart> {
  const { source, options } = context;
  const resolved = await resolveStart(context, signal);
  const { commit, tree } = await prepareCommit({ commit: resolved.commit, source, limits: options.limits }, signal);
  return { ...resolved, commit, baseCommit: commit, baseTree: tree };
}

/** Null before the first push, or if the repository no longer has what was pushed. */
async function findPushedStart(
  { agent, repository, options, source }: SourceContext & { source: Source },
  signal: AbortSignal,
): Promise<KnownStart | null> {
  const pushed = await options.findPushed(agent.agentId, repository.url);
  if (pushed === null) return null;
  const prepare = (commit: string) => prepareCommit({ commit, source, limits: options.limits }, signal);
  try {
    const { branch, baseBranch } = pushed;
    const base = await prepare(pushed.baseCommit);
    const { commit } = await prepare(pushed.commit);
    return { branch, baseBranch, baseCommit: base.commit, baseTree: base.tree, commit };
  } catch (error) {
    if (error instanceof RepositoryFault && error.code === "ref_not_found") return null;
    throw error;
  }
}

/** If a concurrent call created the directory first, that one is kept. */
async function renameOrDiscard(draft: string, path: string): Promise<void> {
  try {
    await rename(draft, path);
  } catch (error) {
    if (!/^(?:ENOTEMPTY|EEXIST)$/.test((error as NodeJS.ErrnoException).code ?? "")) throw error;
    await rm(draft, { recursive: true, force: true });
  }
}

type SourceContext = Pick<RepositoryContext, "agent" | "repository" | "options">;

async function resolveStart(
  { agent, repository, options, source }: SourceContext & { source: Source },
  signal: AbortSignal,
): Promise<StartingPoint> {
  const { startingRef, url } = repository;
  const forked = agent.fork?.starts.find((start) => start.url === url);
  if (forked) return { commit: forked.commit, branch: ownBranch(agent), baseBranch: forked.baseBranch };
  // Already validated when the agent was created; the code below relies on it.
  if (startingRef !== undefined && !isReference(startingRef))
    throw new RepositoryFault("ref_not_found", `"${startingRef}" cannot be the name of a branch, tag or commit.`);
  const request = {
    repository,
    workOnCurrentBranch: agent.workOnCurrentBranch,
    newBranch: ownBranch(agent),
    pullRequest: await findPullRequest({ agent, repository, options, source }, signal),
  };
  return chooseStart(request, source.advertisement);
}

async function findPullRequest(
  { agent, repository, options, source }: SourceContext & { source: Source },
  signal: AbortSignal,
): Promise<PullRequestBranches | undefined> {
  const { prUrl, url } = repository;
  if (prUrl === undefined) return undefined;
  const host = await options.sources.open(agent.teamId, url);
  if (host.pullRequests !== null) {
    const found = await host.pullRequests.read(prUrl, signal);
    if (found !== undefined) return found;
  }
  const number = options.sources.pullRequestNumber(prUrl, url);
  if (number === undefined || host.pullRequests !== null)
    throw new RepositoryFault("ref_not_found", `${prUrl} is not a pull request of ${url}. Check prUrl.`);
  return guessPullRequest(number, source.advertisement);
}

type Facts = Pick<OpenRepository, "url" | "branch" | "isOwnBranch" | "baseBranch" | "baseCommit" | "baseTree">;

async function readFacts(
  hostDirectory: string,
  { path, name }: { path: string; name: string },
): Promise<OpenRepository> {
  const facts: Facts = JSON.parse(await readFile(join(hostDirectory, "platform.json"), "utf8"));
  await followMove(hostDirectory);
  return { ...facts, path, name, hostDirectory };
}

async function readExisting({ workspace, host }: AgentDirectories): Promise<OpenRepository[]> {
  const directories = existsSync(host) ? (await readdir(host)).filter((name) => name.endsWith(".git")).sort() : [];
  const names = directories
    .map((name) => name.slice(0, -".git".length))
    // If it were a symbolic link, git would read its target.
    .filter((name) => lstatSync(join(workspace, name), { throwIfNoEntry: false })?.isDirectory() ?? false);
  return Promise.all(names.map((name) => readFacts(join(host, `${name}.git`), { path: join(workspace, name), name })));
}

/** Named after the repositories; duplicates get a numeric suffix. */
export function directoryNames(repositories: { url: string }[], sources: SourceHosts): string[] {
  const used = new Set<string>();
  return repositories.map(({ url }) => {
    const name = sources.directoryName(url);
    let candidate = name;
    for (let count = 2; used.has(candidate.toLowerCase()); count += 1) candidate = `${name}-${count}`;
    used.add(candidate.toLowerCase());
    return candidate;
  });
}

const ownBranch = ({ branchName: requested, name, agentId }: AgentWork): string =>
  requested ?? branchName(name, agentId);
