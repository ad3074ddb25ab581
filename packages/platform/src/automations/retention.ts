// Removes firings some time after they were decided, with the events that caused them, and alerts.
import { type Kysely, sql } from "kysely";
import { inBatches, type RetentionRule, type Tables } from "../foundation/index.ts";

const batchSize = 500;

/** What is planned stays, and so does an alert about it: it would be raised again. */
export const automationRetention = (db: Kysely<Tables>, days: number): RetentionRule[] => {
  const limit = sql<Date>`now() - ${days} * interval '1 day'`;
  return [
    {
      name: "firings",
      remove: () =>
        inBatches(async () => {
          const { numAffectedRows = 0n } = await sql`
            delete from automation_firings where id in (
              select id from automation_firings
              where decided_at < ${limit} and status <> 'planned' and planned_at < ${limit}
              limit ${batchSize} for update skip locked
            )
          `.execute(db);
          return Number(numAffectedRows);
        }),
    },
    {
      name: "alerts",
      remove: () =>
        inBatches(async () => {
          const { numAffectedRows = 0n } = await sql`
            delete from automation_alerts where id in (
              select id from automation_alerts as due
              where created_at < ${limit} and not exists (
                select from automation_firings as firing where firing.id = due.firing_id and firing.status = 'planned'
              )
              limit ${batchSize} for update skip locked
            )
          `.execute(db);
          return Number(numAffectedRows);
        }),
    },
  ];
};
