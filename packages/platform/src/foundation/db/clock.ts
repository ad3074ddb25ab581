// The time of the database on this server: clocks of servers may differ, and what one writes another reads.
import { type Kysely, sql } from "kysely";
import type { Tables } from "./tables/index.ts";

export interface DatabaseClock {
  now(): Date;
  close(): void;
}

/** Clocks that count drift apart by milliseconds in this time. */
const readEveryMs = 600_000;
/** More than this apart: the machine was suspended, which stops the clock that counts, or its time was set. */
const maxDivergenceMs = 5_000;

/** Read now and then; in between, the clock of this machine that cannot be set counts on. */
export async function openDatabaseClock(db: Kysely<Tables>): Promise<DatabaseClock> {
  let last = await readTime(db);
  let isReading = false;
  const read = async () => {
    if (isReading) return;
    isReading = true;
    // A database that is away has not changed its clock, as far as is known.
    last = await readTime(db).catch(() => last);
    isReading = false;
  };
  const timer = setInterval(() => void read(), readEveryMs);
  timer.unref();
  return {
    now() {
      const countedMs = performance.now() - last.at;
      if (Math.abs(Date.now() - last.wallMs - countedMs) > maxDivergenceMs) void read();
      return new Date(last.ms + countedMs);
    },
    close: () => clearInterval(timer),
  };
}

interface ReadTime {
  /** Of the database. */
  ms: number;
  /** Of this machine when it was read: by the clock that counts, and by the one that can be set. */
  at: number;
  wallMs: number;
}

async function readTime(db: Kysely<Tables>): Promise<ReadTime> {
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::double precision as ms
  `.execute(db);
  return { ms: rows[0]?.ms ?? Date.now(), at: performance.now(), wallMs: Date.now() };
}
