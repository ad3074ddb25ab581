// Commits the uncommitted files of a run on top of the agent's own commits, and signs all of them. Idempotent: content, parent,
// message and time of the commit depend only on the run. No program that the repository configures is executed.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { unlockDirectory } from "../../foundation/index.ts";
import {
  askGit,
  commitOfIndex,
  commitText,
  copyIndex,
  type GitLocation,
  gitSucceeds,
  replaceIndex,
  runGit,
  writeSigned,
} from "../git/index.ts";
import type { OpenRepository } from "../workspaces/index.ts";
import { addFiles } from "./add-files.ts";
import { type AgentGit, moveAgent, readAgentGit } from "./agent-git.ts";
import { copyCommit, packInto, writePack } from "./copy-commit.ts";
import { findHeldBack } from "./find-held-back.ts";
import type { HeldBackFile } from "./held-back.ts";
import { borrowedBy, withoutWorkTree, workTreeLocation } from "./host-side.ts";
import { packForAgent } from "./new-objects.ts";
import { rebuildAgentGit, removeUnfinished } from "./rebuild-agent-git.ts";
import { type SigningOptions, signCommits } from "./sign-commits.ts";
import { pathsAdded, pathsIn, treeOf } from "./trees.ts";

export interface CommitOptions {
  repository: OpenRepository;
  /** The last known tip of the branch; initially the base commit. */
  last: string;
  message: string;
  at: Date;
  signing: SigningOptions;
}

export interface CommittedWork {
  /** Has all of the agent's work; the base commit if nothing changed. */
  commit: string;
  /** Files that look like secrets or leftovers: in no commit, still in the work tree. */
  heldBack: HeldBackFile[];
}

export async function commitLeftovers(options: CommitOptions, signal: AbortSignal): Promise<CommittedWork> {
  const { repository, signing } = options;
  const { hostDirectory } = repository;
  unlockDirectory(repository.path);
  await removeUnfinished(repository);
  const agent = await readAgent(options, signal);
  const own = agent ? await ownCommits(agent, options, signal) : { commit: options.last, heldBack: [] };
  const index = join(hostDirectory, "index");
  const indexFile = `${index}-${randomUUID()}`;
  try {
    const location = { ...(await workTreeLocation(repository)), indexFile };
    await readParent({ index, location, parent: own.commit }, signal);
    const { commit, heldBack, changed } = await commitFiles({ ...options, parent: own.commit, location }, signal);
    const isGiven = agent && (await giveCommit({ repository, agent, commit, index: indexFile, changed }, signal));
    if (!isGiven) await rebuildAgentGit({ repository, commit, index: indexFile, identity: signing.platform });
    await replaceIndex(index, { draft: indexFile, commit });
    return { commit, heldBack: named([...own.heldBack, ...heldBack]) };
  } finally {
    await rm(indexFile, { force: true });
  }
}

/** Each once, with names as text. */
const named = (files: HeldBackFile[]): HeldBackFile[] => {
  const byPath = new Map(files.map((file) => [file.path, file]));
  return [...byPath.values()].map(({ path, reason }) => ({ path: Buffer.from(path, "latin1").toString(), reason }));
};

/** Undefined if the agent's git directory is damaged or incomplete. Its work tree is still committed then. */
async function readAgent({ repository, last }: CommitOptions, signal: AbortSignal): Promise<AgentGit | undefined> {
  const { path, hostDirectory, baseCommit } = repository;
  const host: GitLocation = { directory: hostDirectory };
  const exclude = [last, baseCommit];
  const agent = readAgentGit(path);
  if (agent === undefined || exclude.includes(agent.head)) return agent;
  const from = { ...host, borrowed: [agent.objects] };
  return (await copyCommit({ from, to: host, commit: agent.head, exclude }, signal)) ? agent : undefined;
}

/**
 * The parent of the new commit: the agent's HEAD, without files that are held back. If the agent only went back to an older
 * commit, the parent is the last known tip instead: a published branch must not lose commits, and the pull request shows
 * the change.
 */
async function ownCommits({ head }: AgentGit, options: CommitOptions, signal: AbortSignal): Promise<CommittedWork> {
  const { repository, last, signing } = options;
  const location: GitLocation = { directory: repository.hostDirectory };
  const isOlder = () => gitSucceeds({ location, args: ["merge-base", "--is-ancestor", head, last] }, signal);
  if (head === last || (await isOlder())) return { commit: last, heldBack: [] };
  const exclude = [last, repository.baseCommit];
  const commits = await commitsOfAgent({ repository, head, exclude }, signal);
  const added = await pathsAdded(location, commits, signal);
  const known = await pathsIn(location, last, signal);
  const heldBack = await findHeldBack({ location: await workTreeLocation(repository), added, known }, signal);
  const stripped = { paths: added.filter(heldBack.covers), commits: new Set(commits) };
  return {
    commit: await signCommits({ location, head, exclude, signing, heldBack: stripped }, signal),
    heldBack: heldBack.files,
  };
}

/** Commits that no branch or tag of the repository has: an agent may set any committer. */
async function commitsOfAgent(
  { repository, head, exclude }: { repository: OpenRepository; head: string; exclude: string[] },
  signal: AbortSignal,
): Promise<string[]> {
  const { hostDirectory } = repository;
  const references = await Promise.all(
    (await borrowedBy(hostDirectory)).map((objects) =>
      askGit({ location: { directory: dirname(objects) }, args: ["for-each-ref", "--format=%(objectname)"] }, signal),
    ),
  );
  const upstream = new Set(references.flatMap(({ out }) => out.toString().split("\n").filter(Boolean)));
  const input = [head, ...[...exclude, ...upstream].map((name) => `^${name}`)].join("\n");
  const args = ["rev-list", "--ignore-missing", "--stdin"];
  const list = await runGit({ location: { directory: hostDirectory }, args, input }, signal);
  return list.split("\n").filter(Boolean);
}

interface CommitImport {
  repository: OpenRepository;
  agent: AgentGit;
  commit: string;
  index: string;
  /** Paths in which the commit differs from its parent. */
  changed: string[];
}

/** Gives the commit to the agent's repository. False if its objects cannot be written there. */
async function giveCommit(
  { repository, agent, commit, index, changed }: CommitImport,
  signal: AbortSignal,
): Promise<boolean> {
  if (commit === agent.head) return true;
  const directory = repository.hostDirectory;
  await mkdir(join(agent.objects, "pack"), { recursive: true });
  const pack = await packForAgent({ directory, commit, known: [agent.head] }, changed);
  if (pack !== null) await writePack(agent.objects, pack);
  else if (!(await packInto(agent.objects, { from: { directory }, commit, exclude: [agent.head] }, signal)))
    return false;
  await moveAgent(repository.path, agent, { commit, index });
  return true;
}

/** Makes an index with the files of the parent, in which the times of files are those of the last one. */
async function readParent(
  { index, location, parent }: { index: string; location: GitLocation & { indexFile: string }; parent: string },
  signal: AbortSignal,
): Promise<void> {
  const isThere = existsSync(index);
  if (isThere) await copyIndex(index, location.indexFile);
  if (isThere && (await commitOfIndex(index)) === parent) return;
  // With the work tree: git marks files whose time cannot prove that they are unchanged, whenever it writes the index.
  await runGit({ location, args: ["read-tree", "-m", "-i", parent] }, signal);
}

async function commitFiles(
  {
    repository,
    location,
    parent,
    message,
    at,
    signing,
  }: CommitOptions & { location: GitLocation & { indexFile: string }; parent: string },
  signal: AbortSignal,
): Promise<CommittedWork & { changed: string[] }> {
  const host = withoutWorkTree(location);
  const { heldBack, tree, changed } = await addFiles(location, signal);
  if (tree === null) return { commit: parent, heldBack, changed };
  const { baseCommit, baseTree } = repository;
  const former = parent === baseCommit && baseTree !== undefined ? baseTree : await treeOf(host, parent, signal);
  if (tree === former) return { commit: parent, heldBack, changed };
  const text = commitText({
    tree,
    parents: [parent],
    author: signing.author,
    committer: signing.platform,
    at,
    message,
  });
  return { commit: await writeSigned({ location: host, text, signer: signing }), heldBack, changed };
}
