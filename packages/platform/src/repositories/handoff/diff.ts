// All changes of an agent in its repositories so far, committed or not, pushed or not. Leaves no files behind.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Kysely } from "kysely";
import type { Tables } from "../../foundation/index.ts";
import { askGit, GitFailed, type GitLocation, GitWroteTooMuch, RepositoryFault, runGit } from "../git/index.ts";
import type { SourceHosts } from "../scm/index.ts";
import type { OpenRepository, Workspaces } from "../workspaces/index.ts";
import { addFiles } from "./add-files.ts";
import { findWorkspace } from "./find-workspace.ts";
import { workTreeLocation } from "./host-side.ts";
import type { HandoffRow } from "./store.ts";

export interface Diffs {
  /** One entry per repository of the agent; empty before its first run has fetched them. */
  read(agentId: string, signal: AbortSignal): Promise<RepositoryChange[]>;
}

export interface RepositoryChange {
  /** Without scheme: `github.com/o/r`. */
  repoUrl: string;
  baseBranch: string;
  baseCommit: string;
  branch: string;
  /** Empty if nothing changed. */
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
      const workspace = await findWorkspace({ db, workspaces }, agentId);
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

type HandoffStatus = HandoffRow & { isOfLatestRun: boolean };

async function handoffsOf(db: Kysely<Tables>, agentId: string): Promise<HandoffStatus[]> {
  const rows = await db
    .selectFrom("handoffs")
    .innerJoin("agents", "agents.id", "handoffs.agent_id")
    .selectAll("handoffs")
    .select("agents.latest_run_id")
    .where("handoffs.agent_id", "=", agentId)
    .execute();
  return rows.map((row) => ({ ...row, isOfLatestRun: row.run_id === row.latest_run_id }));
}

/** The work of a run that is active, cancelled or failed exists only as files. */
async function readPatch(
  repository: OpenRepository,
  row: HandoffStatus | undefined,
  signal: AbortSignal,
): Promise<Buffer> {
  const { hostDirectory, baseCommit } = repository;
  const last = row?.head_commit ?? baseCommit;
  const isCommitted = row?.isOfLatestRun && row.state !== "waiting" && row.state !== "failed";
  if (isCommitted) return diff({ location: { directory: hostDirectory }, from: baseCommit, to: last }, signal);
  return retryWhileFilesChange(() =>
    withFilesOf(repository, last, signal, (location, tree) => diff({ location, from: baseCommit, to: tree }, signal)),
  );
}

const maxAttempts = 3;

/** A file may be deleted or replaced between two accesses: try again. */
async function retryWhileFilesChange<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RepositoryFault) || attempt === maxAttempts) throw error;
    }
  }
}

/** Writes the current files as a tree into a temporary object directory, which is removed afterwards. */
async function withFilesOf<T>(
  repository: OpenRepository,
  last: string,
  signal: AbortSignal,
  use: (location: GitLocation, tree: string) => Promise<T>,
): Promise<T> {
  const { hostDirectory } = repository;
  const scratch = await mkdtemp(join(hostDirectory, "diff-"));
  try {
    const objects = join(scratch, "objects");
    await mkdir(objects);
    const location: GitLocation = {
      ...(await workTreeLocation(repository)),
      indexFile: join(scratch, "index"),
      objects,
      borrowed: [join(hostDirectory, "objects")],
    };
    await runGit({ location, args: ["read-tree", "-m", "-i", last] }, signal);
    await addFiles(location, signal);
    return await use(location, (await runGit({ location, args: ["write-tree"] }, signal)).trim());
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const stableFlags = ["--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--ignore-submodules=all"];

async function diff(
  { location, from, to }: { location: GitLocation; from: string; to: string },
  signal: AbortSignal,
): Promise<Buffer> {
  const args = ["diff", "--binary", "--full-index", ...stableFlags, from, to, "--"];
  const { code, out, stderr } = await askGit({ location, args }, signal).catch((error: unknown) => {
    if (!(error instanceof GitWroteTooMuch)) throw error;
    const message = `The changes are too large for a patch: ${error.message} Fetch the agent's branch instead.`;
    throw new RepositoryFault("repository_too_large", message, { cause: error });
  });
  if (code !== 0) throw new GitFailed("diff", stderr);
  return out;
}
