// The files of an agent as they were when its last run began, kept as a commit or tree in the host's git directories: what
// that run alone has changed is what differs from them.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Kysely } from "kysely";
import type { Tables } from "../../foundation/index.ts";
import type { SourceHosts } from "../scm/index.ts";
import type { OpenRepository } from "../workspaces/index.ts";
import { writeFilesAsTree } from "./current-files.ts";
import type { StartingRun } from "./handoff.ts";
import { commitsAfter, type HandoffRow } from "./store.ts";

export interface RunStartOptions {
  db: Kysely<Tables>;
  sources: Pick<SourceHosts, "shown">;
}

/** Safe to call again until the run changes files. Throws RepositoryFault. */
export async function keepRunStart(
  { agentId, runId, workspace }: StartingRun,
  { db, sources }: RunStartOptions,
  signal: AbortSignal,
): Promise<void> {
  const earlier = await earlierRun(db, { agentId, runId });
  const handoffs = db.selectFrom("handoffs").selectAll().where("agent_id", "=", agentId);
  const rows = earlier === null ? [] : await handoffs.execute();
  for (const repository of workspace.repositories) {
    const row = rows.find(({ repo_url }) => repo_url === sources.shown(repository.url));
    const name = await currentFiles({ repository, row, earlier }, signal);
    const path = fileOf(repository);
    const draft = `${path}-${randomUUID()}`;
    await writeFile(draft, JSON.stringify({ runId, name }));
    await rename(draft, path);
  }
}

export interface StartedRun {
  agentId: string;
  id: string;
  number: number;
}

/** Where the start was not kept, as by an earlier version: what was pushed before the run. */
export async function findRunStart(
  repository: OpenRepository,
  run: StartedRun,
  { db, sources }: RunStartOptions,
): Promise<string> {
  const kept = await readKept(fileOf(repository));
  if (kept?.runId === run.id) return kept.name;
  const commits = await commitsAfter(db, { agentId: run.agentId, runNumber: run.number - 1 });
  const pushed = commits.find(({ repo_url }) => repo_url === sources.shown(repository.url));
  return pushed?.commit ?? repository.baseCommit;
}

interface KeptStart {
  runId: string;
  name: string;
}

async function readKept(path: string): Promise<KeptStart | null> {
  if (!existsSync(path)) return null;
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch {
    return null; // Empty after a power failure.
  }
}

const fileOf = ({ hostDirectory }: OpenRepository): string => join(hostDirectory, "run-start.json");

const earlierRun = async (
  db: Kysely<Tables>,
  { agentId, runId }: { agentId: string; runId: string },
): Promise<string | null> => {
  const run = await db
    .selectFrom("runs")
    .select("id")
    .where("agent_id", "=", agentId)
    .where("id", "!=", runId)
    .orderBy("number", "desc")
    .executeTakeFirst();
  return run?.id ?? null;
};

interface FilesBefore {
  repository: OpenRepository;
  row: HandoffRow | undefined;
  earlier: string | null;
}

/** After a run that was handed off its commit, which costs nothing; after another one its files are read. */
async function currentFiles({ repository, row, earlier }: FilesBefore, signal: AbortSignal): Promise<string> {
  const { baseCommit } = repository;
  if (earlier === null) return baseCommit;
  const last = row?.head_commit ?? baseCommit;
  const isCommitted = row?.run_id === earlier && row.state !== "waiting" && row.state !== "failed";
  return isCommitted ? last : writeFilesAsTree({ repository, last }, signal);
}
