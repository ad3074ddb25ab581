// The connected workers of a team, as the API shows them.
import type { Worker, WorkerQuery, WorkerSummary } from "@agentcli/protocol/api";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Tables } from "../foundation/index.ts";
import { isOnline } from "./online.ts";
import { repositoryNameOf } from "./repository-name.ts";
import type { StoredWorker } from "./store.ts";

/** A team has at most a thousand: they are read in one statement. */
export interface ShownWorker extends StoredWorker {
  /** With an active run; null: none. */
  active_agent_id: string | null;
}

export async function listWorkers(
  db: Kysely<Tables>,
  teamId: number,
  { status, scope }: Pick<WorkerQuery, "status" | "scope">,
): Promise<ShownWorker[]> {
  const all = await read(db, teamId);
  return all
    .filter(({ active_agent_id }) => status === "all" || (active_agent_id !== null) === (status === "in_use"))
    .filter(({ pool }) => scope === "all" || (pool !== null) === (scope === "team_pool"));
}

export async function countWorkers(db: Kysely<Tables>, teamId: number): Promise<WorkerSummary> {
  const all = await read(db, teamId);
  const count = (some: ShownWorker[]) => ({
    totalConnected: some.length,
    inUse: some.filter(({ active_agent_id }) => active_agent_id !== null).length,
  });
  return {
    teamSummary: count(all.filter(({ pool }) => pool !== null)),
    userSummary: count(all.filter(({ pool }) => pool === null)),
  };
}

export const findWorker = async (db: Kysely<Tables>, teamId: number, id: string): Promise<ShownWorker | undefined> =>
  (await read(db, teamId, sql`and workers.id = ${id}`))[0];

/** Milliseconds are what a page's position holds. */
async function read(db: Kysely<Tables>, teamId: number, where: RawBuilder<unknown> = sql``): Promise<ShownWorker[]> {
  const { rows } = await sql<ShownWorker>`
    select workers.*, date_trunc('milliseconds', workers.connected_at) as connected_at, (
      select claim.agent_id from worker_claims claim join runs on runs.agent_id = claim.agent_id
      where claim.team_id = workers.team_id and claim.worker_id = workers.id and runs.status in ('CREATING', 'RUNNING')
      order by claim.claimed_at limit 1
    ) as active_agent_id
    from workers where workers.team_id = ${teamId} and ${isOnline} ${where}
  `.execute(db);
  const keyOf = ({ id }: ShownWorker) => Buffer.from(id).toString("hex");
  return rows.sort((a, b) => a.connected_at.getTime() - b.connected_at.getTime() || (keyOf(a) < keyOf(b) ? -1 : 1));
}

export const toWorker = (row: ShownWorker): Worker => ({
  workerId: row.id,
  name: row.name,
  isInUse: row.active_agent_id !== null,
  ...(row.active_agent_id !== null && { activeBcId: row.active_agent_id }),
  ...{ repoOwner: "", repoName: "" },
  ...(row.repo_url !== null && repositoryNameOf(row.repo_url)),
  workspaceRootPath: row.root_path,
  connectedAtMs: row.connected_at.getTime(),
  userId: row.user_id ?? 0,
  teamId: row.team_id,
  ...(row.service_account_id !== null && { serviceAccountId: row.service_account_id }),
  ...(row.pool !== null && { pool: row.pool }),
  labels: row.labels,
  version: row.version,
});
