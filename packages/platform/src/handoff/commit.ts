// Commits what a run has left, on top of what the agent committed itself, all of it signed. Called again, it gives the same commit: its
// content, its parent, its message and its time are the same. Nothing that the repository names runs.
import { randomUUID } from "node:crypto";
import { accessSync, constants, existsSync, lstatSync, type Stats } from "node:fs";
import { copyFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type GitPlace, runGit } from "../git/index.ts";
import type { OpenRepository } from "../workspaces/index.ts";
import { moveAgent, readAgentGit } from "./agent-git.ts";
import { commitText } from "./commit-object.ts";
import { renewAgentGit } from "./renew.ts";
import { type Signing, signLineage, writeSigned } from "./sign-commits.ts";
import { takeOver, transfer } from "./take-over.ts";

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
  const { repository, last } = wish;
  const { path, hostDirectory, baseCommit } = repository;
  const host: GitPlace = { directory: hostDirectory };
  const found = readAgentGit(path);
  const known = [...new Set([last, baseCommit])];
  const isKnown = found === undefined || known.includes(found.head);
  const isWhole =
    isKnown ||
    (await takeOver({ from: { ...host, borrowed: [found.objects] }, to: host, commit: found.head, known }, signal));
  // Git's files there may be anything; the agent's files are its work all the same.
  const agent = isWhole ? found : undefined;
  const parent = agent
    ? await signLineage({ place: host, head: agent.head, known, signing: wish.signing }, signal)
    : last;
  const indexFile = join(hostDirectory, `index-${randomUUID()}`);
  try {
    if (existsSync(join(hostDirectory, "index"))) await copyFile(join(hostDirectory, "index"), indexFile);
    const commit = await commitFiles({ ...wish, parent, place: { ...host, workTree: path, indexFile } }, signal);
    if (agent === undefined) await renewAgentGit({ repository, commit, index: indexFile });
    else if (commit !== agent.head) {
      await transfer(
        {
          from: host,
          to: { ...host, objects: agent.objects, borrowed: [join(hostDirectory, "objects")] },
          commit,
          known: [agent.head],
        },
        signal,
      );
      await moveAgent(path, agent, { commit, index: indexFile });
    }
    await rename(indexFile, join(hostDirectory, "index"));
    return commit;
  } finally {
    await rm(indexFile, { force: true });
  }
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

/**
 * Plumbing instead of `git add --all`: that looks into repositories below the working tree by running git there, under
 * whatever configuration the agent has written for them.
 */
export async function stageFiles(place: GitPlace, signal: AbortSignal): Promise<void> {
  const listing = ["ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard"];
  const listed = new Set((await runGit({ place, args: listing }, signal)).split("\0").filter(Boolean));
  const links = await submodulesOf(place, signal);
  const paths = [...listed].filter((path) => !links.has(path) && !path.endsWith("/"));
  const found = new Map(paths.map((path) => [path, lookAt(join(place.workTree ?? "", path))]));
  const those = (what: Found) => paths.filter((path) => found.get(path) === what).map((path) => `${path}\0`);
  // What is gone goes first: where a file became a directory, its name is in the way of what is below.
  const [gone, there] = [those("gone").join(""), those("there").join("")];
  if (gone !== "")
    await runGit({ place, args: ["update-index", "-z", "--force-remove", "--stdin"], input: gone }, signal);
  if (there === "") return;
  await runGit({ place, args: ["update-index", "-z", "--add", "--replace", "--stdin"], input: there }, signal);
}

/** What is neither, such as a file that cannot be read, stays as it was. */
type Found = "gone" | "there" | "unreadable";

function lookAt(path: string): Found {
  const entry = entryAt(path);
  if (entry === undefined || entry.isDirectory()) return "gone";
  if (entry.isSymbolicLink()) return "there";
  try {
    accessSync(path, constants.R_OK);
    return entry.isFile() ? "there" : "unreadable";
  } catch {
    return "unreadable";
  }
}

/** Undefined where there is none, also where a file is in its way. */
function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw error;
  }
}

async function submodulesOf(place: GitPlace, signal: AbortSignal): Promise<Set<string>> {
  const entries = (await runGit({ place, args: ["ls-files", "--stage", "-z"] }, signal)).split("\0");
  const links = entries
    .filter((entry) => entry.startsWith("160000 "))
    .map((entry) => entry.slice(entry.indexOf("\t") + 1));
  return new Set(links.filter((path) => existsSync(join(place.workTree ?? "", path))));
}
