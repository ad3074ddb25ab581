// One at a time, among all servers of one database: a lock of PostgreSQL, which ends with whoever held it.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import type { Tables } from "../db/index.ts";

export interface Locks {
  /** Waits for its turn, and throws the signal's reason where that does not come in time; work under way is waited for. */
  hold<T>(name: string, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

const lookEveryMs = 50;

/** Each lock held takes a connection, and others need some too. */
const mostHeld = 8;

export function openLocks(db: Kysely<Tables>): Locks {
  // Within a process one waits for the other here, and takes no connection meanwhile.
  const last = new Map<string, Promise<unknown>>();
  const seats = openSeats(mostHeld);
  return {
    async hold(name, work, signal) {
      const before = last.get(name) ?? Promise.resolve();
      const begun = announcement();
      const seated = () => {
        signal.throwIfAborted();
        begun.make();
        return holdAmongServers({ db, name, work }, signal);
      };
      const turn = before.then(() => seats.sit(seated));
      const settled = turn.then(
        () => {},
        () => {},
      );
      last.set(name, settled);
      void settled.then(() => last.get(name) === settled && last.delete(name));
      await unlessAborted(Promise.race([begun.made, settled]), signal);
      return turn;
    },
  };
}

function announcement(): { make(): void; made: Promise<void> } {
  let make = () => {};
  const made = new Promise<void>((resolve) => {
    make = resolve;
  });
  return { make: () => make(), made };
}

async function unlessAborted(awaited: Promise<void>, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const aborted = once(signal, "abort", { signal: over.signal }).then(() => signal.throwIfAborted());
  // Ended by us where what was awaited came first.
  aborted.catch(() => {});
  try {
    signal.throwIfAborted();
    await Promise.race([awaited, aborted]);
  } finally {
    over.abort();
  }
}

/** So many at once; the others wait in the order they came. */
function openSeats(most: number): { sit<T>(work: () => Promise<T>): Promise<T> } {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return {
    async sit(work) {
      if (taken >= most) await new Promise<void>((resolve) => waiting.push(resolve));
      else taken += 1;
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else taken -= 1;
      }
    },
  };
}

interface Holding<T> {
  db: Kysely<Tables>;
  name: string;
  work: () => Promise<T>;
}

async function holdAmongServers<T>({ db, name, work }: Holding<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const key = createHash("sha256").update(name).digest().readBigInt64BE().toString();
  return db.connection().execute(async (connection) => {
    while (!(await tryLock(connection, key))) await pause(lookEveryMs, undefined, { signal });
    try {
      return await work();
    } finally {
      await sql`select pg_advisory_unlock(${key}::bigint)`.execute(connection);
    }
  });
}

async function tryLock(connection: Kysely<Tables>, key: string): Promise<boolean> {
  const { rows } = await sql<{ held: boolean }>`select pg_try_advisory_lock(${key}::bigint) as held`.execute(
    connection,
  );
  return rows[0]?.held === true;
}
