// Removes workers that have not been connected for long, and the pools that only they have named.
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

/** Pools that were registered stay until they are deregistered. */
export const poolRetention = (db: Kysely<Tables>, days: number): RetentionRule => ({
  name: "worker pools",
  remove: () =>
    inBatches(async () => {
      const { numAffectedRows = 0n } = await sql`
        delete from worker_pools where id in (
          select id from worker_pools as due
          where not is_registered and last_seen_at < now() - ${days} * interval '1 day' and not exists (
            select from workers where workers.team_id = due.team_id and workers.pool = due.name
          )
          limit ${batchSize} for update skip locked
        )
      `.execute(db);
      return Number(numAffectedRows);
    }),
});
