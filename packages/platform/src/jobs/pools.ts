// Whose jobs are whose: pools of workers belong to one life of one server, and what a dead one held is taken from it.
import { type Kysely, sql } from "kysely";
import type { Tables } from "../db/index.ts";
import { jobSchema } from "./schema.ts";

/** Beats come every 5 s, and may take 10 s where the database is slow. */
const deadAfterMs = 20_000;

/** Before its first job: a lock that nobody can be asked about would hold for hours. */
export async function registerPool(db: Kysely<Tables>, poolId: string, nodeId: string): Promise<void> {
  await sql`
    insert into job_pools (id, node_id, node_started_at)
    select ${poolId}, id, started_at from nodes where id = ${nodeId}
    on conflict (id) do nothing
  `.execute(db);
}

/** The pools whose jobs were given to others. A server that only seemed dead keeps its pool, and may lose a job twice. */
export async function unlockDeadPools(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with dead as (
      select id from job_pools where not exists (
        select from nodes
        where nodes.id = node_id and nodes.started_at = node_started_at
          and nodes.heartbeat_at > now() - ${`${deadAfterMs} milliseconds`}::interval
      )
    ), forgotten as (
      delete from job_pools where id in (select id from dead) and created_at < now() - interval '1 day'
    ), locked as (
      select distinct locked_by as id from ${sql.id(jobSchema, "jobs")} where locked_by in (select id from dead)
    )
    select id, ${sql.id(jobSchema, "force_unlock_workers")}(array[id]) from locked
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** It stopped in order: nothing of it is locked. */
export async function forgetPool(db: Kysely<Tables>, poolId: string): Promise<void> {
  await db.deleteFrom("job_pools").where("id", "=", poolId).execute();
}
