// Commits the uncommitted files of a run on top of the agent's own commits, and signs all of them. Idempotent: content, parent,
// message and time of the commit depend only on the run. No program that the repository configures is executed.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type GitLocation, gitSucceeds, runGit } from "../git/index.ts";
import type { OpenRepository } from "../workspaces/index.ts";
import { addFiles } from "./add-files.ts";
import { type AgentGit, moveAgent, readAgentGit } from "./agent-git.ts";
import { commitText } from "./commit-object.ts";
import { copyCommit } from "./copy-commit.ts";
import { workTreeLocation } from "./host-side.ts";
import { rebuildAgentGit } from "./rebuild-agent-git.ts";
import { type SigningOptions, signCommits, writeSigned } from "./sign-commits.ts";

export interface CommitOptions {
  repository: OpenRepository;
  /** The last known tip of the branch; initially the base commit. */
  last: string;
  message: string;
  at: Date;
  signing: SigningOptions;
}

/** Returns the commit with all of the agent's work; the base commit if nothing changed. */
export async function commitLeftovers(options: CommitOptions, signal: AbortSignal): Promise<string> {
  const { repository, signing } = options;
  const { hostDirectory } = repository;
  const agent = await readAgent(options, signal);
  const parent = agent ? await parentFor(agent, options, signal) : options.last;
  const indexFile = join(hostDirectory, `index-${randomUUID()}`);
  try {
    if (existsSync(join(hostDirectory, "index"))) await copyFile(join(hostDirectory, "index"), indexFile);
    const location = { ...(await workTreeLocation(repository)), indexFile };
    const commit = await commitFiles({ ...options, parent, location }, signal);
    const isImported = agent && (await importCommit({ repository, agent, commit, index: indexFile }, signal));
    if (!isImported) await rebuildAgentGit({ repository, commit, index: indexFile, identity: signing.platform });
    await rename(indexFile, join(hostDirectory, "index"));
    return commit;
  } finally {
    await rm(indexFile, { force: true });
  }
}

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
 * The parent of the new commit: the agent's HEAD. If the agent only went back to an older commit, the parent is the last
 * known tip instead: a published branch must not lose commits, and the pull request shows the change.
 */
async function parentFor({ head }: AgentGit, options: CommitOptions, signal: AbortSignal): Promise<string> {
  const { repository, last, signing } = options;
  const location: GitLocation = { directory: repository.hostDirectory };
  if (await gitSucceeds({ location, args: ["merge-base", "--is-ancestor", head, last] }, signal)) return last;
  return signCommits({ location, head, exclude: [last, repository.baseCommit], signing }, signal);
}

interface CommitImport {
  repository: OpenRepository;
  agent: AgentGit;
  commit: string;
  index: string;
}

/** Imports the commit into the agent's repository. False if an object there does not match its name. */
async function importCommit({ repository, agent, commit, index }: CommitImport, signal: AbortSignal): Promise<boolean> {
  if (commit === agent.head) return true;
  const from: GitLocation = { directory: repository.hostDirectory };
  const to = { ...from, objects: agent.objects, borrowed: [join(from.directory, "objects")] };
  if (!(await copyCommit({ from, to, commit, exclude: [agent.head] }, signal))) return false;
  await moveAgent(repository.path, agent, { commit, index });
  return true;
}

async function commitFiles(
  { location, parent, message, at, signing }: CommitOptions & { location: GitLocation; parent: string },
  signal: AbortSignal,
): Promise<string> {
  await runGit({ location, args: ["read-tree", "-m", "-i", parent] }, signal);
  await addFiles(location, signal);
  const tree = (await runGit({ location, args: ["write-tree"] }, signal)).trim();
  if (tree === (await runGit({ location, args: ["rev-parse", `${parent}^{tree}`] }, signal)).trim()) return parent;
  const text = commitText({ tree, parent, author: signing.author, committer: signing.platform, at, message });
  return writeSigned({ location, text, signing }, signal);
}
