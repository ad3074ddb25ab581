// Commits what a run has left, on top of what the agent committed itself, all of it signed. Called again, it gives the same commit: its
// content, its parent, its message and its time are the same. Nothing that the repository names runs.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type GitPlace, gitSucceeds, runGit } from "../git/index.ts";
import type { OpenRepository } from "../workspaces/index.ts";
import { type AgentGit, moveAgent, readAgentGit } from "./agent-git.ts";
import { commitText } from "./commit-object.ts";
import { workPlace } from "./host-side.ts";
import { renewAgentGit } from "./renew.ts";
import { type Signing, signLineage, writeSigned } from "./sign-commits.ts";
import { stageFiles } from "./stage.ts";
import { takeOver } from "./take-over.ts";

export interface CommitWish {
  repository: OpenRepository;
  /** Where the branch was when we last looked; the base at first. */
  last: string;
  message: string;
  at: Date;
  signing: Signing;
}

/** The commit that has all the agent left. The base, where that is nothing. */
export async function commitLeftovers(wish: CommitWish, signal: AbortSignal): Promise<string> {
  const { repository, signing } = wish;
  const { hostDirectory } = repository;
  const agent = await readAgent(wish, signal);
  const parent = agent ? await parentFor(agent, wish, signal) : wish.last;
  const indexFile = join(hostDirectory, `index-${randomUUID()}`);
  try {
    if (existsSync(join(hostDirectory, "index"))) await copyFile(join(hostDirectory, "index"), indexFile);
    const place = { ...(await workPlace(repository)), indexFile };
    const commit = await commitFiles({ ...wish, parent, place }, signal);
    const isHome = agent && (await bringHome({ repository, agent, commit, index: indexFile }, signal));
    if (!isHome) await renewAgentGit({ repository, commit, index: indexFile, identity: signing.platform });
    await rename(indexFile, join(hostDirectory, "index"));
    return commit;
  } finally {
    await rm(indexFile, { force: true });
  }
}

/** Undefined where git's files there are not whole: they may be anything, and the agent's own files are its work all the same. */
async function readAgent({ repository, last }: CommitWish, signal: AbortSignal): Promise<AgentGit | undefined> {
  const { path, hostDirectory, baseCommit } = repository;
  const host: GitPlace = { directory: hostDirectory };
  const known = [last, baseCommit];
  const found = readAgentGit(path);
  if (found === undefined || known.includes(found.head)) return found;
  const from = { ...host, borrowed: [found.objects] };
  return (await takeOver({ from, to: host, commit: found.head, known }, signal)) ? found : undefined;
}

/**
 * What the files go on top of: where the agent is. Where it only went back to an older commit, that is a change on top of
 * the last: a branch that others have seen does not get shorter, and a pull request has something to show.
 */
async function parentFor({ head }: AgentGit, wish: CommitWish, signal: AbortSignal): Promise<string> {
  const { repository, last, signing } = wish;
  const place: GitPlace = { directory: repository.hostDirectory };
  if (await gitSucceeds({ place, args: ["merge-base", "--is-ancestor", head, last] }, signal)) return last;
  return signLineage({ place, head, known: [last, repository.baseCommit], signing }, signal);
}

interface Homecoming {
  repository: OpenRepository;
  agent: AgentGit;
  commit: string;
  index: string;
}

/** Has the agent see the commit. False where its objects stand against it: one is not what its name says. */
async function bringHome({ repository, agent, commit, index }: Homecoming, signal: AbortSignal): Promise<boolean> {
  if (commit === agent.head) return true;
  const from: GitPlace = { directory: repository.hostDirectory };
  const to = { ...from, objects: agent.objects, borrowed: [join(from.directory, "objects")] };
  if (!(await takeOver({ from, to, commit, known: [agent.head] }, signal))) return false;
  await moveAgent(repository.path, agent, { commit, index });
  return true;
}

async function commitFiles(
  { place, parent, message, at, signing }: CommitWish & { place: GitPlace; parent: string },
  signal: AbortSignal,
): Promise<string> {
  await runGit({ place, args: ["read-tree", "-m", "-i", parent] }, signal);
  await stageFiles(place, signal);
  const tree = (await runGit({ place, args: ["write-tree"] }, signal)).trim();
  if (tree === (await runGit({ place, args: ["rev-parse", `${parent}^{tree}`] }, signal)).trim()) return parent;
  const text = commitText({ tree, parent, author: signing.author, committer: signing.platform, at, message });
  return writeSigned({ place, text, signing }, signal);
}
