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

/** Part of the statement that ends a run, which has it as `fence`: nothing is written where the run is another's. */
export const outboxRow = (status: RunStatus, endedAt: Date): RawBuilder<unknown> => sql`
  insert into webhook_deliveries (id, agent_id, run_id, status, next_attempt_at, created_at)
  select 'wh_' || gen_random_uuid(), webhooks.agent_id, fence.id, 'waiting', ${endedAt}, ${endedAt}
  from fence join webhooks on webhooks.agent_id = fence.agent_id
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
