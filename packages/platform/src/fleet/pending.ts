// The requests of a team that wait for a worker of a pool: unclaimed, or claimed by one that is away.
import type { PendingRequest } from "@agentcli/protocol/api";
import { type Kysely, sql } from "kysely";
import type { AgentSettings, Tables } from "../foundation/index.ts";
import { shownRepository } from "../identity-tokens/index.ts";
import { defaultPool } from "./default-pool.ts";
import { hasConnected, isOnline, readyTimeoutSeconds, waitsSince } from "./online.ts";
import { type PoolOwner, poolOwnerOfAgent } from "./pools.ts";
import { repositoryNameOf } from "./repository-name.ts";

/**
 * `waiting`: no worker has claimed it. `claimed_offline`: its worker was connected before, and may connect again in time.
 * `claimed`: all others.
 */
export type PendingState = "waiting" | "claimed" | "claimed_offline";

export interface PoolRequest {
  runId: string;
  state: PendingState;
  /** When it came into this state, by the clock of the database. */
  sinceMs: number;
  request: PendingRequest;
}

export interface PendingFilter {
  repository?: string | undefined;
  pool?: string | undefined;
}

interface RequestRow {
  run_id: string;
  agent_id: string;
  user_id: number | null;
  email: string | null;
  service_account_id: string | null;
  env: NonNullable<AgentSettings["env"]>;
  repos: { url: string }[];
  created_at: Date;
  claimed_at: Date | null;
  last_seen_at: Date | null;
  worker_id: string | null;
  is_online: boolean;
  has_connected: boolean;
  wake_seconds: number;
  left_ms: number;
}

const maxRequests = 10_000;

/** Requests of runs that need a pool of the team, or of this service account, the longest waiting first. */
export async function readPoolRequests(
  db: Kysely<Tables>,
  { teamId, serviceAccountId }: PoolOwner,
  filter: PendingFilter = {},
): Promise<PoolRequest[]> {
  const { rows } = await sql<RequestRow>`
    select runs.id as run_id, runs.agent_id, agents.user_id, users.email, agents.service_account_id,
      agents.settings->'env' as env, agents.settings->'repos' as repos, runs.created_at, claim.worker_id,
      claim.claimed_at, workers.last_seen_at,
      coalesce(${isOnline}, false) as is_online,
      coalesce(${hasConnected}, false) as has_connected,
      case when claim.agent_id is null then 0 else ${readyTimeoutSeconds} end as wake_seconds,
      case when claim.agent_id is null then 0 else greatest(0, extract(epoch from
        ${waitsSince} + ${readyTimeoutSeconds} * interval '1 second' - now()) * 1000)::double precision end as left_ms
    from runs join agents on agents.id = runs.agent_id
      left join users on users.id = agents.user_id
      left join worker_claims claim on claim.agent_id = runs.agent_id
        and (claim.failed_run_id is null or claim.failed_run_id = runs.id)
      left join workers on workers.team_id = claim.team_id and workers.id = claim.worker_id
    where agents.team_id = ${teamId} and runs.status in ('CREATING', 'RUNNING') and runs.needs_worker
      and runs.cancel_requested_at is null and agents.settings->'env'->>'type' = 'pool'
      and coalesce(${poolOwnerOfAgent} = ${serviceAccountId}::uuid, true)
    order by runs.created_at, runs.id limit ${maxRequests}
  `.execute(db);
  return rows.filter((row) => matches(row, filter)).map(toPoolRequest);
}

export const isPending = ({ state }: PoolRequest): boolean => state !== "claimed";

const poolOf = ({ env }: RequestRow): string => env.name ?? defaultPool;

function matches(row: RequestRow, { repository, pool }: PendingFilter): boolean {
  if (pool !== undefined && poolOf(row) !== pool) return false;
  return repository === undefined || row.repos.some(({ url }) => shownRepository(url) === shownRepository(repository));
}

function toPoolRequest(row: RequestRow): PoolRequest {
  const [repo] = row.repos;
  const state = stateOf(row);
  const labels = [
    ...(repo === undefined ? [] : [{ key: "repo", value: shownRepository(repo.url) }]),
    { key: "pool", value: poolOf(row) },
  ];
  const request: PendingRequest = {
    id: row.agent_id,
    userId: row.user_id ?? 0,
    ...(row.email !== null && { userEmail: row.email }),
    ...(row.service_account_id !== null && { serviceAccountId: row.service_account_id }),
    ...(repo !== undefined && repositoryNameOf(repo.url)),
    labels,
    createdAtMs: row.created_at.getTime(),
    ...(state === "claimed_offline" && {
      claimedWorkerId: row.worker_id ?? "",
      wakeTimeoutMs: Math.round(row.left_ms),
    }),
  };
  const since = { waiting: row.created_at, claimed: row.claimed_at, claimed_offline: row.last_seen_at }[state];
  return { runId: row.run_id, state, sinceMs: since?.getTime() ?? 0, request };
}

/** A worker that a controller is starting is not away: it was never there. */
function stateOf(row: RequestRow): PendingState {
  if (row.worker_id === null) return "waiting";
  return !row.is_online && row.has_connected && row.wake_seconds > 0 ? "claimed_offline" : "claimed";
}

export type PendingEvent =
  | { event: "created" | "claimed_offline"; data: PendingRequest }
  | { event: "claimed" | "expired"; data: { id: string } };

/** Pure: what a reader of the first learns on the way to the second. */
export function pendingEvents(before: PoolRequest[], now: PoolRequest[]): PendingEvent[] {
  const former = new Map(before.map((one) => [one.request.id, one]));
  const current = new Set(now.map(({ request }) => request.id));
  const changed = now.flatMap((one): PendingEvent[] => {
    const known = former.get(one.request.id);
    if (known?.state === one.state && known.runId === one.runId) return [];
    if (one.state === "waiting") return [{ event: "created", data: one.request }];
    if (one.state === "claimed_offline") return [{ event: "claimed_offline", data: one.request }];
    return known === undefined ? [] : [{ event: "claimed", data: { id: one.request.id } }];
  });
  const gone = before.filter((one) => isPending(one) && !current.has(one.request.id));
  return [...changed, ...gone.map(({ request }): PendingEvent => ({ event: "expired", data: { id: request.id } }))];
}

/** Pure: what a reader knew at that moment. Best effort, as the stream is: a claim that ended since is not told again. */
export const knownAt = (requests: PoolRequest[], positionMs: number): PoolRequest[] =>
  requests.flatMap((one): PoolRequest[] => {
    if (one.sinceMs <= positionMs) return [one];
    if (one.request.createdAtMs > positionMs) return [];
    return [{ ...one, state: one.state === "claimed" ? "waiting" : "claimed" }];
  });
