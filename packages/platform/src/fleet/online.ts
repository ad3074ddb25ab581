// When a worker counts as connected, how long a run waits for one that is not, and which runs a server can drive.
import { type RawBuilder, sql } from "kysely";

/** A worker that was away for longer is lost, and its run fails. */
export const lostAfterSeconds = 600;

/** A server reports its workers this often. */
export const seenEveryMs = 20_000;
/** Without a report for this long, the server that held the connection is gone. */
export const staleSeconds = 90;

const seconds = (count: number) => sql`${`${count} seconds`}::interval`;

/** A condition on `workers`. */
export const isOnline = sql<boolean>`(
  workers.node_id is not null and workers.last_seen_at > now() - ${seconds(staleSeconds)}
)`;

/** Of the pool of `workers`; the longest where there are several of that name. */
export const readyTimeoutSeconds = sql<number>`coalesce((
  select max(pool.ready_timeout_seconds) from worker_pools pool
  where pool.team_id = workers.team_id and pool.name = workers.pool
    and (pool.service_account_id is null or pool.service_account_id = workers.service_account_id)
), 0)`;

/** Since `runs` waits for `workers`, which `claim` names. */
export const waitsSince = sql<Date>`greatest(claim.claimed_at, workers.last_seen_at, runs.created_at)`;

/** How long a pool worker may be away before a run that has not begun gets another one. */
const graceSeconds = 30;

/** The worker was there for this claim; one that a controller is starting was not yet. */
export const hasConnected = sql<boolean>`(workers.connected_at > claim.claimed_at or runs.created_at > claim.claimed_at)`;

/** A condition: the worker is away, and the time that it may be away is over. */
export const isOverdue = sql<boolean>`(
  not ${isOnline} and ${waitsSince} < now() - case
    when ${readyTimeoutSeconds} > 0 then ${readyTimeoutSeconds} * interval '1 second'
    when claim.is_exclusive and runs.status = 'CREATING' and ${hasConnected} then ${seconds(graceSeconds)}
    else ${seconds(lostAfterSeconds)} end
)`;

/** What decides which runs a server can drive. */
export interface ReadyOptions {
  nodeId: string;
  /** A run that has waited this long for a worker expires. */
  waitSeconds: number;
}

/** A condition on `runs`: no worker was found for it, and it has waited long enough. */
const hasWaitedTooLong = (waitSeconds: number): RawBuilder<boolean> => sql<boolean>`(
  runs.status = 'CREATING' and runs.created_at < now() - ${seconds(waitSeconds)}
    and not exists (select from worker_claims claim where claim.agent_id = runs.agent_id)
)`;

const ofRun = sql`
  worker_claims claim join workers on workers.team_id = claim.team_id and workers.id = claim.worker_id
  where claim.agent_id = runs.agent_id
`;

/**
 * A condition on `runs`: without a worker it does not go on, but ends. It was cancelled, has waited too long for one, its
 * worker has been away for too long, or its controller has failed. A run that has not begun, and waits for a pool, gets
 * another worker instead.
 */
export const endsWithoutWorker = (waitSeconds: number): RawBuilder<boolean> => sql<boolean>`(
  runs.cancel_requested_at is not null or ${hasWaitedTooLong(waitSeconds)} or exists (
    select from ${ofRun} and (
      claim.failed_run_id = runs.id or (${isOverdue} and not (claim.is_exclusive and runs.status = 'CREATING'))
    )
  )
)`;

/** A condition on `runs`. A run whose worker is connected to another server, or not at all, waits without a driver. */
export const workerIsReady = ({ nodeId, waitSeconds }: ReadyOptions): RawBuilder<boolean> => sql<boolean>`(
  not runs.needs_worker or ${endsWithoutWorker(waitSeconds)} or exists (
    select from ${ofRun} and workers.node_id = ${nodeId} and claim.failed_run_id is null
  )
)`;
