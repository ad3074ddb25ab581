// Opens the directory of an agent: repositories that are not there yet are fetched and checked out, the others stay.
import { randomUUID } from "node:crypto";
import { existsSync, lstatSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { AgentRepository } from "../db/index.ts";
import { layOut, RepositoryFault } from "../git/index.ts";
import { isReference, type SourceHosts } from "../scm/index.ts";
import { branchName } from "./branch-name.ts";
import { checkOut, keepHostSide, makeParent, prepareCommit } from "./checkout.ts";
import type { RepositoryLimits } from "./limits.ts";
import type { Locks } from "./lock.ts";
import { openMirror, type Source } from "./mirror.ts";
import { ownSource } from "./own-source.ts";
import { chooseStart, guessPullRequest, type PullRequestBranches, type StartingPoint } from "./starting-point.ts";
import type { AgentWork, OpenRepository, OpenWorkspace, Workspaces } from "./workspaces.ts";

export interface WorkspacesOptions {
  dataDirectory: string;
  sources: SourceHosts;
  locks: Locks;
  limits: RepositoryLimits;
  identity: { name: string; email: string };
}

export function openWorkspaces(options: WorkspacesOptions): Workspaces {
  return {
    async open(agent, signal) {
      const places = placesOf(agent.agentId, options);
      await makeParent(places.workspace);
      await makeParent(places.host);
      if (agent.repos.length === 0) return openEmpty(places);
      const names = directoryNames(agent.repos, options.sources);
      const repositories: OpenRepository[] = [];
      for (const [index, repository] of agent.repos.entries())
        repositories.push(
          await openRepository({ agent, repository, name: names[index] ?? "", places, options }, signal),
        );
      return openedWith(places, repositories);
    },
    async find(agentId) {
      const places = placesOf(agentId, options);
      if (!existsSync(places.workspace)) return undefined;
      return openedWith(places, await readKept(places));
    },
    async remove(agentId) {
      const places = placesOf(agentId, options);
      // Whoever still works there is on the way out, and may add a file to a directory that was just emptied.
      for (const place of [places.workspace, places.host])
        await rm(place, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    },
  };
}

interface Places {
  workspace: string;
  /** What the host keeps of the agent's repositories, out of the agent's reach. */
  host: string;
}

function placesOf(agentId: string, { dataDirectory }: WorkspacesOptions): Places {
  if (!/^bc-[0-9a-f-]{36}$/i.test(agentId)) throw new Error(`"${agentId}" is no id of an agent.`);
  return { workspace: join(dataDirectory, "workspaces", agentId), host: join(dataDirectory, "handoffs", agentId) };
}

/** The name of the directory of an agent without repositories. */
const emptyName = "workspace";

/** A repository with nothing in it: without one, whatever looks for the top of the project would find one above. */
async function openEmpty({ workspace }: Places): Promise<OpenWorkspace> {
  const root = join(workspace, emptyName);
  if (existsSync(root)) return { root, repositories: [] };
  const draft = join(workspace, `.draft-${randomUUID()}`);
  const nothing = { references: new Map(), config: [], borrowed: [] };
  await layOut(join(draft, ".git"), { objectFormat: "sha1", isPartial: false, head: "main", ...nothing });
  await moveIntoPlace(draft, root);
  return { root, repositories: [] };
}

const openedWith = ({ workspace }: Places, repositories: OpenRepository[]): OpenWorkspace => {
  const [first, ...others] = repositories;
  if (first === undefined) return { root: join(workspace, emptyName), repositories };
  return { root: others.length === 0 ? first.path : workspace, repositories };
};

interface Opening {
  agent: AgentWork;
  repository: AgentRepository;
  name: string;
  places: Places;
  options: WorkspacesOptions;
}

async function openRepository(opening: Opening, signal: AbortSignal): Promise<OpenRepository> {
  const { places, name } = opening;
  const path = join(places.workspace, name);
  const hostDirectory = join(places.host, `${name}.git`);
  if (!existsSync(path)) await makeRepository({ ...opening, path, hostDirectory }, signal);
  return readFacts(hostDirectory, { path, name });
}

async function makeRepository(
  { agent, repository, places, options, path, hostDirectory }: Opening & { path: string; hostDirectory: string },
  signal: AbortSignal,
): Promise<void> {
  const { limits, identity } = options;
  const source = await openSource({ agent, repository, options }, signal);
  if (source.advertisement.references.size === 0)
    throw new RepositoryFault(
      "ref_not_found",
      `There is nothing at ${repository.url}. Push a first commit to it, or check the address, then start an agent.`,
    );
  const wished = await wishedStart({ agent, repository, options, source }, signal);
  const commit = await prepareCommit({ commit: wished.commit, source, limits }, signal);
  const start = { ...wished, commit };
  const draft = join(places.workspace, `.draft-${randomUUID()}`);
  try {
    await mkdir(draft);
    await checkOut({ path: draft, source, start, url: repository.url, limits, identity }, signal);
    // First the host's side: where the directory of the agent is, both are.
    const { branch, baseBranch } = start;
    const isOwnBranch = branch === ownBranch(agent);
    const facts: Facts = { url: repository.url, branch, isOwnBranch, baseBranch, baseCommit: commit };
    await keepHostSide(hostDirectory, {
      source,
      start,
      facts: JSON.stringify(facts),
      index: join(draft, ".git/index"),
    });
    await moveIntoPlace(draft, path);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Where somebody was faster, theirs stays. */
async function moveIntoPlace(draft: string, path: string): Promise<void> {
  try {
    await rename(draft, path);
  } catch (error) {
    if (!/^(?:ENOTEMPTY|EEXIST)$/.test((error as NodeJS.ErrnoException).code ?? "")) throw error;
    await rm(draft, { recursive: true, force: true });
  }
}

type Asking = Pick<Opening, "agent" | "repository" | "options">;

async function openSource({ agent, repository, options }: Asking, signal: AbortSignal): Promise<Source> {
  const host = await options.sources.open(agent.teamId, repository.url);
  if (host.directory !== null) return ownSource(host, host.directory, signal);
  const { dataDirectory, locks, limits } = options;
  const key = `${agent.teamId} ${options.sources.canonical(repository.url)}`;
  return openMirror({ key, host }, { directory: join(dataDirectory, "mirrors"), locks, limits }, signal);
}

async function wishedStart(
  { agent, repository, options, source }: Asking & { source: Source },
  signal: AbortSignal,
): Promise<StartingPoint> {
  const { startingRef } = repository;
  // Checked when the agent was made; what follows depends on it.
  if (startingRef !== undefined && !isReference(startingRef))
    throw new RepositoryFault("ref_not_found", `"${startingRef}" cannot be the name of a branch, tag or commit.`);
  const wish = {
    repository,
    workOnCurrentBranch: agent.workOnCurrentBranch,
    newBranch: ownBranch(agent),
    pullRequest: await findPullRequest({ agent, repository, options, source }, signal),
  };
  return chooseStart(wish, source.advertisement);
}

async function findPullRequest(
  { agent, repository, options, source }: Asking & { source: Source },
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
    throw new RepositoryFault("ref_not_found", `${prUrl} is no pull request of ${url}. Check prUrl.`);
  return guessPullRequest(number, source.advertisement);
}

type Facts = Pick<OpenRepository, "url" | "branch" | "isOwnBranch" | "baseBranch" | "baseCommit">;

async function readFacts(
  hostDirectory: string,
  { path, name }: { path: string; name: string },
): Promise<OpenRepository> {
  const facts: Facts = JSON.parse(await readFile(join(hostDirectory, "platform.json"), "utf8"));
  return { ...facts, path, name, hostDirectory };
}

async function readKept({ workspace, host }: Places): Promise<OpenRepository[]> {
  const directories = existsSync(host) ? (await readdir(host)).filter((name) => name.endsWith(".git")).sort() : [];
  const names = directories
    .map((name) => name.slice(0, -".git".length))
    // A link in its place would have git read what it points to.
    .filter((name) => lstatSync(join(workspace, name), { throwIfNoEntry: false })?.isDirectory() ?? false);
  return Promise.all(names.map((name) => readFacts(join(host, `${name}.git`), { path: join(workspace, name), name })));
}

/** After the repositories; the second of a name gets a number. */
function directoryNames(repositories: AgentRepository[], sources: SourceHosts): string[] {
  const taken = new Set<string>();
  return repositories.map(({ url }) => {
    const name = sources.directoryName(url);
    let free = name;
    for (let count = 2; taken.has(free.toLowerCase()); count += 1) free = `${name}-${count}`;
    taken.add(free.toLowerCase());
    return free;
  });
}

const ownBranch = ({ branchName: chosen, name, agentId }: AgentWork): string => chosen ?? branchName(name, agentId);
