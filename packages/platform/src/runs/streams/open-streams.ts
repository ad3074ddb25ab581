// Which servers read the stream of which run: a server that writes frames wakes others only if they have readers.
import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { inBatches, type RetentionRule, type Tables } from "../../foundation/index.ts";

export interface OpenStreams {
  /** Until it is closed, servers that write frames of the run notify this one. */
  open(runId: string): OpenStream;
}

export interface OpenStream {
  /** This server is notified of frames that are stored from now on. Never rejects: a reader without notifications looks now and then. */
  opened(): Promise<void>;
  /** After notifications were missing: the row may be lost as well. */
  renew(): void;
  close(): void;
}

/** Removes what a former life of this server has left. */
export async function openOpenStreams(db: Kysely<Tables>, nodeId: string): Promise<OpenStreams> {
  await db.deleteFrom("open_streams").where("node_id", "=", nodeId).execute();
  return {
    open(runId) {
      const row = { id: randomUUID(), run_id: runId, node_id: nodeId };
      const insert = () =>
        db
          .insertInto("open_streams")
          .values(row)
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      const remove = () => db.deleteFrom("open_streams").where("id", "=", row.id).execute();
      let last: Promise<unknown> = insert().catch(ignore);
      // One after the other: a row that is written after it was removed would stay.
      const then = (next: () => Promise<unknown>) => {
        last = last.then(next).catch(ignore);
      };
      return {
        async opened() {
          await last;
        },
        renew: () => then(insert),
        close: () => then(remove),
      };
    },
  };
}

/** The database is away: rows that are left are removed by retention, missing ones are made up for by looking. */
const ignore = (): void => {};

/** Part of a statement with the fence: readers on other servers than the one that drives the run then read the new frames. */
export const notifyReaders = (runId: string, frames: readonly unknown[]) => sql`
  select pg_notify('frames', ${runId}) from fence
  where ${frames.length > 0} and exists (
    select from open_streams where run_id = ${runId}
      and node_id is distinct from (select lease_owner from runs where id = ${runId})
  )
`;

export const openStreamRetention = (db: Kysely<Tables>): RetentionRule => ({
  name: "open_streams",
  remove: () => inBatches(() => removeOfGoneServers(db)),
});

async function removeOfGoneServers(db: Kysely<Tables>): Promise<number> {
  const { numAffectedRows: removed = 0n } = await sql`
    delete from open_streams where not exists (
      select from nodes where id = node_id and heartbeat_at > now() - interval '1 hour'
    )
  `.execute(db);
  return Number(removed);
}
