// Removes sessions and login links some time after their end.
import { type Kysely, sql } from "kysely";
import { inBatches, type RetentionRule, type Tables } from "../../foundation/index.ts";

/** Few: each removal is an entry of the audit log, whose writers wait for each other. */
const batchSize = 20;

export const sessionRetention = (db: Kysely<Tables>, days: number): RetentionRule[] => {
  const limit = sql<Date>`now() - ${days} * interval '1 day'`;
  return [
    {
      name: "sessions",
      remove: () =>
        inBatches(async () => {
          const due = db.selectFrom("sessions").select("id").where("expires_at", "<", limit).limit(batchSize);
          return Number((await db.deleteFrom("sessions").where("id", "in", due).executeTakeFirst()).numDeletedRows);
        }),
    },
    {
      name: "login links",
      remove: () =>
        inBatches(async () => {
          const due = db.selectFrom("login_links").select("id").where("expires_at", "<", limit).limit(batchSize);
          return Number((await db.deleteFrom("login_links").where("id", "in", due).executeTakeFirst()).numDeletedRows);
        }),
    },
  ];
};
