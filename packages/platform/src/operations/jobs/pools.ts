// Worker pools belong to one incarnation of one server; jobs locked by a dead one are unlocked.
import { type Kysely, sql } from "kysely";
import type { Tables } from "../../foundation/index.ts";
import { jobSchema } from "./schema.ts";

/** Heartbeats come every 5 s, and may take 10 s if the database is slow. */
const deadAfterMs = 20_000;

/** Called before the pool's first job: the lock of an unregistered pool would last for hours. */
export async function registerPool(db: Kysely<Tables>, poolId: string, nodeId: string): Promise<void> {
  await sql`
    insert into job_pools (id, node_id, node_started_at)
    select ${poolId}, id, started_at from nodes where id = ${nodeId}
    on conflict (id) do nothing
  `.execute(db);
}

/** Returns the pools whose jobs were unlocked. A server that only seemed dead keeps its pool, and may lose a job twice. */
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

/** After an orderly stop: nothing of the pool is locked. */
export async function forgetPool(db: Kysely<Tables>, poolId: string): Promise<void> {
  await db.deleteFrom("job_pools").where("id", "=", poolId).execute();
}
