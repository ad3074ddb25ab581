// Removes invitations some time after they have expired, whatever became of them.
import { type Kysely, sql } from "kysely";
import { inBatches, type RetentionRule, type Tables } from "../../foundation/index.ts";

/** Few: each removal is an entry of the audit log, whose writers wait for each other. */
const batchSize = 20;

export const invitationRetention = (db: Kysely<Tables>, days: number): RetentionRule => ({
  name: "invitations",
  remove: () =>
    inBatches(async () => {
      const limit = sql<Date>`now() - ${days} * interval '1 day'`;
      const due = db.selectFrom("invitations").select("id").where("expires_at", "<", limit).limit(batchSize);
      return Number((await db.deleteFrom("invitations").where("id", "in", due).executeTakeFirst()).numDeletedRows);
    }),
});
