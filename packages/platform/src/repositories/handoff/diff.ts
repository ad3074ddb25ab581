// Changes of an agent in its repositories, committed or not, pushed or not: all so far, or those of its last run alone. Leaves
// no files behind.
import type { Kysely } from "kysely";
import type { Tables } from "../../foundation/index.ts";
import { askGit, GitFailed, type GitLocation, GitWroteTooMuch, RepositoryFault } from "../git/index.ts";
import type { SourceHosts } from "../scm/index.ts";
import type { OpenRepository, Workspaces } from "../workspaces/index.ts";
import { withFilesAsTree } from "./current-files.ts";
import { findWorkspace } from "./find-workspace.ts";
import { findRunStart } from "./run-start.ts";
import type { HandoffRow } from "./store.ts";

export interface Diffs {
  /** One entry per repository of the agent; empty before its first run has fetched them. */
  read(agentId: string, signal: AbortSignal): Promise<RepositoryChange[]>;
  /** What the last run alone has changed; empty before it has begun. */
  readLastRun(agentId: string, signal: AbortSignal): Promise<RepositoryChange[]>;
}

export interface RepositoryChange {
  /** Without scheme: `github.com/o/r`. */
  repoUrl: string;
  baseBranch: string;
  /** What the patch applies to; of a run that followed an unfinished one, a tree. */
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

export function openDiffs(options: DiffOptions): Diffs {
  return {
    read: (agentId, signal) => readChanges({ agentId, options, startOf: async ({ baseCommit }) => baseCommit }, signal),
    async readLastRun(agentId, signal) {
      const run = await options.db
        .selectFrom("agents")
        .innerJoin("runs", "runs.id", "agents.latest_run_id")
        .select(["runs.id", "runs.number", "runs.started_at"])
        .where("agents.id", "=", agentId)
        .executeTakeFirst();
      if (!run || run.started_at === null) return [];
      return readChanges(
        { agentId, options, startOf: (one) => findRunStart(one, { agentId, ...run }, options) },
        signal,
      );
    },
  };
}

interface Reading {
  agentId: string;
  options: DiffOptions;
  /** The commit or tree that the changes are counted from. */
  startOf(repository: OpenRepository): Promise<string>;
}

async function readChanges({ agentId, options, startOf }: Reading, signal: AbortSignal): Promise<RepositoryChange[]> {
  const { db, workspaces, sources } = options;
  const workspace = await findWorkspace({ db, workspaces }, agentId);
  const rows = await handoffsOf(db, agentId);
  const changes: RepositoryChange[] = [];
  for (const repository of workspace?.repositories ?? []) {
    const repoUrl = sources.shown(repository.url);
    const { branch, baseBranch } = repository;
    const row = rows.find(({ repo_url }) => repo_url === repoUrl);
    const from = await startOf(repository);
    changes.push({
      repoUrl,
      baseBranch,
      baseCommit: from,
      branch,
      patch: await readPatch({ repository, row, from }, signal),
    });
  }
  return changes;
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

interface PatchRequest {
  repository: OpenRepository;
  row: HandoffStatus | undefined;
  from: string;
}

/** The work of a run that is active, cancelled or failed exists only as files. */
async function readPatch({ repository, row, from }: PatchRequest, signal: AbortSignal): Promise<Buffer> {
  const { hostDirectory, baseCommit } = repository;
  const last = row?.head_commit ?? baseCommit;
  const isCommitted = row?.isOfLatestRun && row.state !== "waiting" && row.state !== "failed";
  if (isCommitted) return diff({ location: { directory: hostDirectory }, from, to: last }, signal);
  return withFilesAsTree({ repository, last }, signal, (location, tree) => diff({ location, from, to: tree }, signal));
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
