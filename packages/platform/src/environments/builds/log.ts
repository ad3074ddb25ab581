// Logs of builds: sealed pieces in order, kept as they come, so that they are there even if the server dies.
import { sql } from "kysely";
import { type DataKey, notify, type Queries } from "../../foundation/index.ts";

export const logAad = (buildId: string, seq: number): string => `build-log:${buildId}:${seq}`;

export interface LogTarget {
  buildId: string;
  key: DataKey;
  /** Of the lease under which it is written; absent: of a build without one. */
  epoch?: number | null;
}

/** One writer at a time: the server that holds the lease, or a request while there is none. */
export async function appendLog(db: Queries, { buildId, key, epoch = null }: LogTarget, text: string): Promise<void> {
  const { last } = await db
    .selectFrom("environment_build_logs")
    .select(({ fn }) => fn.max("seq").as("last"))
    .where("build_id", "=", buildId)
    .executeTakeFirstOrThrow();
  const seq = (last ?? 0) + 1;
  // A server that lost its lease writes nothing more.
  await sql`
    insert into environment_build_logs (build_id, seq, at, text)
    select id, ${seq}, ${new Date()}, ${key.seal(text, logAad(buildId, seq))} from environment_builds
    where id = ${buildId} and (${epoch}::integer is null or lease_epoch = ${epoch})
    on conflict do nothing
  `.execute(db);
  await notify(db, "environment_build_logs", buildId);
}

export interface LogPiece {
  seq: number;
  at: Date;
  text: string;
}

/** Each has up to 64 KiB of text. A batch stays in memory until its reader has it. */
const batchSize = 8;

/** The pieces behind `after`, a batch at most. */
export async function readLog(db: Queries, { buildId, key }: LogTarget, after: number): Promise<LogPiece[]> {
  const rows = await db
    .selectFrom("environment_build_logs")
    .selectAll()
    .where("build_id", "=", buildId)
    .where("seq", ">", after)
    .orderBy("seq")
    .limit(batchSize)
    .execute();
  return rows.map(({ seq, at, text }) => ({ seq, at, text: key.openText(text, logAad(buildId, seq)) }));
}

/** All pieces so far, a batch in memory at a time. */
export async function* readWholeLog(db: Queries, target: LogTarget): AsyncGenerator<LogPiece> {
  for (let after = 0; ; ) {
    const pieces = await readLog(db, target, after);
    yield* pieces;
    after = pieces.at(-1)?.seq ?? after;
    if (pieces.length < batchSize) return;
  }
}
