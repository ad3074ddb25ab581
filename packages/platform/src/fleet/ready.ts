// Which runs a server can drive: those whose worker is connected to it, and those that need none.
import { type RawBuilder, sql } from "kysely";

/** A worker that was away for longer is lost, and its run fails. */
export const lostAfterSeconds = 600;

/** A server reports its workers this often. */
export const seenEveryMs = 20_000;
/** Without a report for this long, the server that held the connection is gone. */
export const staleSeconds = 90;

/**
 * A condition on `runs`. A run whose worker is connected to another server, or not at all, waits without a driver; it is
 * ended by any server once it is cancelled, or once its worker has been away for too long.
 */
export const workerIsReady = (nodeId: string): RawBuilder<boolean> => sql<boolean>`(
  not runs.needs_worker or runs.cancel_requested_at is not null or exists (
    select from worker_claims claim join workers on workers.team_id = claim.team_id and workers.id = claim.worker_id
    where claim.agent_id = runs.agent_id and (
      workers.node_id = ${nodeId} or workers.last_seen_at < now() - ${`${lostAfterSeconds} seconds`}::interval
    )
  )
)`;
