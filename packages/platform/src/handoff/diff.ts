// What an agent has changed in its repositories so far: committed or not, pushed or not. Nothing is written for it that stays.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Kysely } from "kysely";
import type { Tables } from "../db/index.ts";
import { askGit, GitFailed, type GitPlace, RepositoryFault, runGit } from "../git/index.ts";
import type { SourceHosts } from "../scm/index.ts";
import type { OpenRepository, Workspaces } from "../workspaces/index.ts";
import { workPlace } from "./host-side.ts";
import { stageFiles } from "./stage.ts";
import type { HandoffRow } from "./store.ts";

export interface Diffs {
  /** One per repository the agent has; none before its first run has fetched them. */
  read(agentId: string, signal: AbortSignal): Promise<RepositoryChange[]>;
}

export interface RepositoryChange {
  /** Without scheme: `github.com/o/r`. */
  repoUrl: string;
  baseBranch: string;
  baseCommit: string;
  branch: string;
  /** Empty where nothing was changed. */
  patch: Buffer;
}

export interface DiffOptions {
  db: Kysely<Tables>;
  workspaces: Workspaces;
  sources: SourceHosts;
}

export function openDiffs({ db, workspaces, sources }: DiffOptions): Diffs {
  return {
    async read(agentId, signal) {
      const workspace = await workspaces.find(agentId);
      const rows = await handoffsOf(db, agentId);
      const changes: RepositoryChange[] = [];
      for (const repository of workspace?.repositories ?? []) {
        const repoUrl = sources.shown(repository.url);
        const { branch, baseBranch, baseCommit } = repository;
        const row = rows.find(({ repo_url }) => repo_url === repoUrl);
        const patch = await readPatch(repository, row, signal);
        changes.push({ repoUrl, baseBranch, baseCommit, branch, patch });
      }
      return changes;
    },
  };
}

type Standing = HandoffRow & { isOfLatestRun: boolean };

async function handoffsOf(db: Kysely<Tables>, agentId: string): Promise<Standing[]> {
  const rows = await db
    .selectFrom("handoffs")
    .innerJoin("agents", "agents.id", "handoffs.agent_id")
    .selectAll("handoffs")
    .select("agents.latest_run_id")
    .where("handoffs.agent_id", "=", agentId)
    .execute();
  return rows.map((row) => ({ ...row, isOfLatestRun: row.run_id === row.latest_run_id }));
}

/** A run that is under way, was cancelled or failed has left its work in files only. */
async function readPatch(repository: OpenRepository, row: Standing | undefined, signal: AbortSignal): Promise<Buffer> {
  const { hostDirectory, baseCommit } = repository;
  const last = row?.head_commit ?? baseCommit;
  const isCommitted = row?.isOfLatestRun && row.state !== "waiting" && row.state !== "failed";
  if (isCommitted) return diff({ place: { directory: hostDirectory }, from: baseCommit, to: last }, signal);
  return whileFilesChange(() =>
    withFilesOf(repository, last, signal, (place, tree) => diff({ place, from: baseCommit, to: tree }, signal)),
  );
}

const mostAttempts = 3;

/** A file may go, or become something else, between two looks at it. */
async function whileFilesChange<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RepositoryFault) || attempt === mostAttempts) throw error;
    }
  }
}

/** The files as they are now, as a tree in a directory of its own that is gone afterwards. */
async function withFilesOf<T>(
  repository: OpenRepository,
  last: string,
  signal: AbortSignal,
  use: (place: GitPlace, tree: string) => Promise<T>,
): Promise<T> {
  const { hostDirectory } = repository;
  const scratch = await mkdtemp(join(hostDirectory, "diff-"));
  try {
    const objects = join(scratch, "objects");
    await mkdir(objects);
    const place: GitPlace = {
      ...(await workPlace(repository)),
      indexFile: join(scratch, "index"),
      objects,
      borrowed: [join(hostDirectory, "objects")],
    };
    await runGit({ place, args: ["read-tree", "-m", "-i", last] }, signal);
    await stageFiles(place, signal);
    return await use(place, (await runGit({ place, args: ["write-tree"] }, signal)).trim());
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const plain = ["--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--ignore-submodules=all"];

async function diff(
  { place, from, to }: { place: GitPlace; from: string; to: string },
  signal: AbortSignal,
): Promise<Buffer> {
  const args = ["diff", "--binary", "--full-index", ...plain, from, to, "--"];
  const { code, out, said } = await askGit({ place, args }, signal);
  if (code !== 0) throw new GitFailed("diff", said);
  return out;
}
