// Removes workers that have not been connected for long.
import { type Kysely, sql } from "kysely";
import { inBatches, type RetentionRule, type Tables } from "../foundation/index.ts";

const batchSize = 200;

/** The claims of its agents go with it: their next run gets another worker. */
export const workerRetention = (db: Kysely<Tables>, days: number): RetentionRule => ({
  name: "workers",
  remove: () =>
    inBatches(async () => {
      const { numAffectedRows = 0n } = await sql`
        delete from workers where (team_id, id) in (
          select team_id, id from workers as due
          where last_seen_at < now() - ${days} * interval '1 day' and not exists (
            select from worker_claims as claim join runs on runs.agent_id = claim.agent_id
            where claim.team_id = due.team_id and claim.worker_id = due.id and runs.status in ('CREATING', 'RUNNING')
          )
          limit ${batchSize} for update skip locked
        )
      `.execute(db);
      return Number(numAffectedRows);
    }),
});
