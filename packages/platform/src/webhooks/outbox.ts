// The outbox: a row with the end of a run, and a job with each row that has none.
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { RunStatus, Tables } from "../db/index.ts";
import { addJob } from "../jobs/index.ts";

export const deliveryTask = "deliver-webhook";

/** What a job says: which attempt of which delivery. One that was made already is not made again. */
export interface DeliveryJob {
  deliveryId: string;
  attempt: number;
}

/** Servers that carry out jobs listen on it. */
export const outboxChannel = "webhooks";

/** What a receiver answers that wants no more messages. */
export const goneForGood = 410;

/**
 * Part of the statement that ends a run, which has it as `fence`: nothing is written where the run is another's. For a
 * receiver that has said it is gone it is a dead letter at once; sending one of them again asks the receiver anew.
 */
export const outboxRow = (status: RunStatus, endedAt: Date): RawBuilder<unknown> => sql`
  insert into webhook_deliveries (id, agent_id, run_id, status, next_attempt_at, created_at)
  select 'wh_' || gen_random_uuid(), webhooks.agent_id, fence.id,
    case when is_gone then 'dead' else 'waiting' end, case when is_gone then null else ${endedAt}::timestamptz end,
    ${endedAt}
  from fence join webhooks on webhooks.agent_id = fence.agent_id
  cross join lateral (
    select coalesce((
      select response_status = ${goneForGood} from webhook_attempts
      join webhook_deliveries on webhook_deliveries.id = delivery_id
      where webhook_deliveries.agent_id = webhooks.agent_id order by started_at desc limit 1
    ), false) as is_gone
  ) receiver
  where version = 'v1' or ${["FINISHED", "ERROR"].includes(status)}
  returning pg_notify(${outboxChannel}, id)
`;

/** Rows without a job get one; so do those whose job is long overdue, as after a backup was restored without the jobs. */
export async function queueDeliveries(db: Kysely<Tables>): Promise<void> {
  const job = addJob({
    task: deliveryTask,
    payload: sql`json_build_object('deliveryId', id, 'attempt', attempts + 1)`,
    key: jobKey(sql`id`),
    runAt: sql`next_attempt_at`,
  });
  await sql`
    with found as (
      update webhook_deliveries set queued_at = now()
      where status = 'waiting' and (
        queued_at is null
        or (queued_at < now() - interval '5 minutes' and next_attempt_at < now() - interval '5 minutes')
      )
      returning id, attempts, next_attempt_at
    )
    select ${job} from found
  `.execute(db);
}

export const jobKey = (deliveryId: RawBuilder<unknown>): RawBuilder<string> => sql`'webhook:' || ${deliveryId}`;
