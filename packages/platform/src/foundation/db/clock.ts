// The time of the database on this server: clocks of servers may differ, and what one writes another reads.
import { type Kysely, sql } from "kysely";
import type { Tables } from "./tables/index.ts";

export interface DatabaseClock {
  now(): Date;
  close(): void;
}

/** Clocks that count drift apart by milliseconds in this time. */
const readEveryMs = 600_000;

/** Read now and then; in between, the clock of this machine that cannot be set counts on. */
export async function openDatabaseClock(db: Kysely<Tables>): Promise<DatabaseClock> {
  let last = await readTime(db);
  const timer = setInterval(() => {
    // A database that is away has not changed its clock, as far as is known.
    void readTime(db).then(
      (read) => {
        last = read;
      },
      () => {},
    );
  }, readEveryMs);
  timer.unref();
  return { now: () => new Date(last.ms + performance.now() - last.at), close: () => clearInterval(timer) };
}

async function readTime(db: Kysely<Tables>): Promise<{ ms: number; at: number }> {
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::double precision as ms
  `.execute(db);
  return { ms: rows[0]?.ms ?? Date.now(), at: performance.now() };
}
