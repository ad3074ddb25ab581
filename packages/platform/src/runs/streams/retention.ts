// Removes the frames of runs whose streams can no longer be read. The conversation stays: it is read from the records.
import { type Kysely, sql } from "kysely";
import { inBatches, type RetentionRule, type Tables } from "../../foundation/index.ts";

/** A reader that opened the stream in time reads it to its end. */
const graceSeconds = 3_600;
const maxRuns = 20;
const maxFrames = 1_000;

export const frameRetention = (db: Kysely<Tables>, streamRetentionSeconds: number): RetentionRule => ({
  name: "frames",
  remove: () => inBatches(() => removeFrames(db, streamRetentionSeconds + graceSeconds)),
});

/** Returns how many frames were removed and streams completed. Locks no run that another transaction is changing. */
const removeFrames = (db: Kysely<Tables>, ageSeconds: number): Promise<number> =>
  db.transaction().execute(async (tx) => {
    // A crash may undo the last batches, which are then removed again; nothing waits for the disk.
    await sql`set local synchronous_commit = off`.execute(tx);
    const due = await tx
      .selectFrom("runs")
      .select("id")
      .where("ended_at", "is not", null)
      .where("ended_at", "<", sql<Date>`now() - ${ageSeconds} * interval '1 second'`)
      .where("stream_removed_at", "is", null)
      .orderBy("ended_at")
      .limit(maxRuns)
      .forNoKeyUpdate()
      .skipLocked()
      .execute();
    if (due.length === 0) return 0;
    const ids = due.map(({ id }) => id);
    const { numAffectedRows: removed = 0n } = await sql`
      delete from frames where ctid = any(array(
        select stored.ctid from unnest(${ids}::text[]) as due (id)
        cross join lateral (select ctid from frames where run_id = due.id order by seq limit ${maxFrames}) as stored
        limit ${maxFrames}
      ))
    `.execute(tx);
    if (removed === BigInt(maxFrames)) return maxFrames;
    await tx.updateTable("runs").set({ stream_removed_at: new Date() }).where("id", "in", ids).execute();
    return Number(removed) + ids.length;
  });
