// Removes events some time after they came.
import { type Kysely, sql } from "kysely";
import { inBatches, type RetentionRule, type Tables } from "../../foundation/index.ts";

const batchSize = 200;
/** Longer than any host repeats a delivery. */
const days = 30;

export const eventRetention = (db: Kysely<Tables>): RetentionRule => ({
  name: "inbound events",
  remove: () =>
    inBatches(async () => {
      const { numAffectedRows = 0n } = await sql`
        delete from inbound_events where id in (
          select id from inbound_events
          where status <> 'received' and created_at < now() - ${days} * interval '1 day'
          limit ${batchSize} for update skip locked
        )
      `.execute(db);
      return Number(numAffectedRows);
    }),
});
