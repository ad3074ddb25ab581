// The outbox: rows inserted by the statement that ends a run, and a job for each row.
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { RunStatus, Tables } from "../../foundation/index.ts";
import { addJob } from "../../operations/index.ts";

export const deliveryTask = "deliver-webhook";

/** Names one attempt of one delivery. An attempt that was already made is not repeated. */
export interface DeliveryJob {
  deliveryId: string;
  attempt: number;
}

/** Notification channel of servers that execute jobs. */
export const outboxChannel = "webhooks";

/** HTTP status of a receiver that wants no further messages. */
export const goneStatus = 410;

/**
 * Part of the statement that ends a run (its common table expression `fence`): writes nothing if another server owns
 * the run. Dead at once for a receiver whose last response was 410; redelivering tries the receiver again.
 */
export const enqueueDeliveries = (status: RunStatus, endedAt: Date): RawBuilder<unknown> => sql`
  insert into webhook_deliveries (id, agent_id, run_id, status, next_attempt_at, created_at)
  select 'wh_' || gen_random_uuid(), webhooks.agent_id, fence.id,
    case when is_gone then 'dead' else 'waiting' end, case when is_gone then null else ${endedAt}::timestamptz end,
    ${endedAt}
  from fence join webhooks on webhooks.agent_id = fence.agent_id
  cross join lateral (
    select coalesce((
      select response_status = ${goneStatus} from webhook_attempts
      join webhook_deliveries on webhook_deliveries.id = delivery_id
      where webhook_deliveries.agent_id = webhooks.agent_id order by started_at desc limit 1
    ), false) as is_gone
  ) receiver
  where version = 'v1' or ${["FINISHED", "ERROR", "EXPIRED"].includes(status)}
  returning pg_notify(${outboxChannel}, id)
`;

/** Adds jobs for rows without one, and for rows whose job is long overdue, as after a restore without jobs. */
export async function queueDeliveries(db: Kysely<Tables>): Promise<void> {
  const job = addJob({
    task: deliveryTask,
    payload: sql`json_build_object('deliveryId', found.id, 'attempt', attempts + 1)`,
    key: jobKey(sql`found.id`),
    runAt: sql`next_attempt_at`,
    queue: queueOf(sql`team_id`, sql`found.id`),
  });
  await sql`
    with found as (
      update webhook_deliveries set queued_at = now()
      where status = 'waiting' and (
        queued_at is null
        or (queued_at < now() - interval '5 minutes' and next_attempt_at < now() - interval '5 minutes')
      )
      returning id, agent_id, attempts, next_attempt_at
    )
    select ${job} from found join agents on agents.id = agent_id
  `.execute(db);
}

export const jobKey = (deliveryId: RawBuilder<unknown>): RawBuilder<string> => sql`'webhook:' || ${deliveryId}`;

/** How many deliveries of a team are attempted at once, of those of all teams: a team's slow receivers delay only its own. */
const teamShare = 4;

export const queueOf = (teamId: RawBuilder<unknown>, deliveryId: RawBuilder<unknown>): RawBuilder<string> =>
  sql`'webhooks:' || ${teamId} || ':' || abs(hashtext(${deliveryId})::bigint) % ${sql.lit(teamShare)}`;
