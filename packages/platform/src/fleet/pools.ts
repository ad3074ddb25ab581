// The pools of a team: those that were registered, and those that workers have named.
import type { DeregisterPool, RegisterPool, WorkerPool } from "@agentcli/protocol/api";
import { type Kysely, type Selectable, sql } from "kysely";
import type { Queries, Tables, WorkerPoolTable } from "../foundation/index.ts";
import { defaultPool } from "./default-pool.ts";
import { isOnline } from "./online.ts";

/** The service account that manages pools. */
export interface PoolOwner {
  teamId: number;
  serviceAccountId: string;
}

/** After so long without a worker. */
const staleDays = 7;

const ownerOf = (scope: "user" | "team", { serviceAccountId }: PoolOwner): string | null =>
  scope === "user" ? serviceAccountId : null;

/** Of a team, whatever their scope. */
export const maxPools = 1_000;

/** False if the team has as many as it may, and this is not one of them. */
export async function registerPool(db: Queries, owner: PoolOwner, request: RegisterPool): Promise<boolean> {
  const { repoOwner = "", repoName = "", repoUrl = null, scope, poolName } = request;
  const chosen = {
    repo_url: repoUrl,
    ready_timeout_seconds: request.workerReadyTimeoutSeconds,
    is_registered: true,
    last_seen_at: sql<Date>`now()`,
  };
  const pool = {
    ...{ team_id: owner.teamId, service_account_id: ownerOf(scope, owner), name: poolName },
    ...{ repo_owner: repoOwner, repo_name: repoName },
  };
  if (!(await isKnownOrFits(db, pool))) return false;
  await db
    .insertInto("worker_pools")
    .values({ ...pool, ...chosen })
    .onConflict((conflict) => conflict.columns([...identity]).doUpdateSet(chosen))
    .execute();
  return true;
}

const identity = ["team_id", "service_account_id", "name", "repo_owner", "repo_name"] as const;

/** Counts those that are registered or not stale. Pools that are registered at the same moment may exceed the limit by a few. */
async function isKnownOrFits(db: Queries, pool: Pick<Selectable<WorkerPoolTable>, (typeof identity)[number]>) {
  const { rows } = await sql<{ is_allowed: boolean }>`
    select count(*) filter (
      where is_registered or last_seen_at > now() - ${staleDays} * interval '1 day'
    ) < ${maxPools} or bool_or(
      name = ${pool.name} and repo_owner = ${pool.repo_owner} and repo_name = ${pool.repo_name}
        and service_account_id is not distinct from ${pool.service_account_id}::uuid
    ) as is_allowed
    from worker_pools where team_id = ${pool.team_id}
  `.execute(db);
  return rows[0]?.is_allowed ?? true;
}

/** False if there is no such pool. Its workers stay connected. */
export async function deregisterPool(db: Queries, owner: PoolOwner, request: DeregisterPool): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("worker_pools")
    .where("team_id", "=", owner.teamId)
    .where("service_account_id", "is not distinct from", ownerOf(request.scope, owner))
    .where("name", "=", request.pool_name)
    .where("repo_owner", "=", request.repo_owner ?? "")
    .where("repo_name", "=", request.repo_name ?? "")
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

const namedPool = (teamId: number, name: string) => ({
  ...{ team_id: teamId, service_account_id: null, name, repo_owner: "", repo_name: "" },
});

/** False if the team has as many pools as it may, and this is not one of them. */
export const mayNamePool = (db: Queries, teamId: number, name: string): Promise<boolean> =>
  isKnownOrFits(db, namedPool(teamId, name));

/** A worker of the pool has connected. */
export async function notePool(db: Queries, teamId: number, name: string): Promise<void> {
  await db
    .insertInto("worker_pools")
    .values({ ...namedPool(teamId, name), is_registered: false })
    .onConflict((conflict) => conflict.columns([...identity]).doUpdateSet({ last_seen_at: sql<Date>`now()` }))
    .execute();
}

/** The service account whose own pool this agent waits for; null: it waits for a pool of the team. */
export const poolOwnerOfAgent = sql<string | null>`(
  select own.service_account_id from worker_pools own
  where own.team_id = agents.team_id and own.service_account_id = agents.service_account_id and own.is_registered
    and own.name = coalesce(agents.settings->'env'->>'name', ${defaultPool}) limit 1
)`;

/** The service account whose own pool this worker serves; null: it serves a pool of the team. */
export const poolOwnerOfWorker = sql<string | null>`(
  select own.service_account_id from worker_pools own
  where own.team_id = workers.team_id and own.service_account_id = workers.service_account_id and own.is_registered
    and own.name = workers.pool limit 1
)`;

export interface PoolFilter {
  scope?: "user" | "team" | undefined;
  includeStale: boolean;
}

interface PoolRow extends Selectable<WorkerPoolTable> {
  /** Of the pool, or of one of its workers. */
  seen_at: Date;
  connected: number;
  in_use: number;
  is_stale: boolean;
}

export interface PoolReader {
  teamId: number;
  /** Null: a user, who sees those of the team. */
  serviceAccountId: string | null;
}

/** The team's, and those of this service account. */
export async function listPools(db: Kysely<Tables>, owner: PoolReader, filter: PoolFilter): Promise<WorkerPool[]> {
  const { rows } = await sql<PoolRow>`
    with known as (
      select workers.*, ${poolOwnerOfWorker} as pool_owner
      from workers where workers.team_id = ${owner.teamId} and workers.pool is not null
    ), counted as (
      select workers.pool, workers.pool_owner, max(workers.last_seen_at) as seen_at,
        count(*) filter (where ${isOnline})::integer as connected,
        count(runs.id) filter (where ${isOnline})::integer as in_use
      from known workers
        left join worker_claims claim
          on claim.team_id = workers.team_id and claim.worker_id = workers.id and claim.is_exclusive
        left join runs on runs.agent_id = claim.agent_id and runs.status in ('CREATING', 'RUNNING')
      group by workers.pool, workers.pool_owner
    ), pools as (
      select worker_pools.*, coalesce(connected, 0) as connected, coalesce(in_use, 0) as in_use,
        greatest(worker_pools.last_seen_at, seen_at) as seen_at
      from worker_pools left join counted
        on counted.pool = worker_pools.name and counted.pool_owner is not distinct from worker_pools.service_account_id
    )
    select pools.*, connected = 0 and seen_at < now() - ${staleDays} * interval '1 day' as is_stale
    from pools
    where team_id = ${owner.teamId} and (service_account_id is null or service_account_id = ${owner.serviceAccountId})
    order by name, service_account_id nulls first, repo_owner, repo_name
  `.execute(db);
  return rows
    .filter((row) => filter.includeStale || !row.is_stale)
    .filter((row) => filter.scope === undefined || filter.scope === scopeOf(row))
    .map((row) => poolOf(row, owner.teamId));
}

const scopeOf = (row: PoolRow): "user" | "team" => (row.service_account_id === null ? "team" : "user");

const poolOf = (row: PoolRow, teamId: number): WorkerPool => ({
  scope: scopeOf(row),
  ownerId: row.service_account_id === null ? teamId : 0,
  poolName: row.name,
  connectedWorkerCount: row.connected,
  inUseWorkerCount: row.in_use,
  firstSeenAtMs: row.first_seen_at.getTime(),
  lastSeenAtMs: row.seen_at.getTime(),
  isStale: row.is_stale,
  ...(row.repo_owner !== "" && { repoOwner: row.repo_owner, repoName: row.repo_name }),
  ...(row.repo_url !== null && { repoUrl: row.repo_url }),
  workerReadyTimeoutSeconds: row.ready_timeout_seconds,
});
