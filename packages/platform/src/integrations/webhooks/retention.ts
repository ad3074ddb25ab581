// Removes deliveries some time after their last attempt.
import { type Kysely, sql } from "kysely";
import { inBatches, type RetentionRule, type Tables } from "../../foundation/index.ts";
import { goneStatus } from "./outbox.ts";

const batchSize = 200;

/** Keeps what is still to be sent, and the response of a receiver that wants no further messages. */
export const deliveryRetention = (db: Kysely<Tables>, days: number): RetentionRule => ({
  name: "webhook deliveries",
  remove: () =>
    inBatches(async () => {
      const limit = sql<Date>`now() - ${days} * interval '1 day'`;
      const { numAffectedRows = 0n } = await sql`
        delete from webhook_deliveries where id in (
          select id from webhook_deliveries as due
          where status <> 'waiting' and created_at < ${limit} and not exists (
            select from webhook_attempts as last where last.delivery_id = due.id
              and (last.started_at >= ${limit} or (last.response_status = ${goneStatus} and not exists (
                select from webhook_attempts as newer
                join webhook_deliveries as other on other.id = newer.delivery_id
                where other.agent_id = due.agent_id and newer.started_at > last.started_at
              )))
          )
          limit ${batchSize} for update skip locked
        )
      `.execute(db);
      return Number(numAffectedRows);
    }),
});
