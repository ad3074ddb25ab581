// How many servers drive runs, as this one has last read it.
import { type Kysely, sql } from "kysely";
import type { Tables } from "./tables/index.ts";

export interface RunnerCount {
  /** One until it was read. */
  read(): number;
  close(): void;
}

const readEveryMs = 10_000;
/** Servers report every five seconds. */
const silentSeconds = 20;

/** Where the database does not answer, the last number stays. */
export function watchRunnerCount(db: Kysely<Tables>): RunnerCount {
  let count = 1;
  const read = () =>
    void countRunners(db).then(
      (counted) => {
        count = counted;
      },
      () => {},
    );
  read();
  const timer = setInterval(read, readEveryMs);
  return { read: () => count, close: () => clearInterval(timer) };
}

/** By their last report: to ask for the lock of each would cost more with each server. */
async function countRunners(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from nodes
    where 'runner' = any(roles) and heartbeat_at > now() - ${silentSeconds} * interval '1 second'
  `.execute(db);
  return rows[0]?.count ?? 1;
}
