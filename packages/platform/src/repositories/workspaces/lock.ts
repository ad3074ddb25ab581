// Mutual exclusion among all servers of one database: a PostgreSQL advisory lock, released when its connection ends.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import { openSharedSlots, type Tables } from "../../foundation/index.ts";

export interface Locks {
  /** Waits for the lock, and throws the signal's reason if aborted while waiting. Work that has started is awaited. */
  hold<T>(lock: Lock, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export interface Lock {
  name: string;
  /** The team whose work it is: it may wait for a host that the team chose. */
  teamId?: number;
}

const pollIntervalMs = 50;

/** Each held lock occupies a database connection; the rest of the server needs connections too. */
const maxHeld = 8;

export function openLocks(db: Kysely<Tables>): Locks {
  // Callers within this process queue here, without occupying a connection.
  const last = new Map<string, Promise<unknown>>();
  const slots = openSharedSlots(maxHeld);
  return {
    async hold({ name, teamId }, work, signal) {
      const previous = last.get(name) ?? Promise.resolve();
      const started = createSignal();
      const runInSlot = () => {
        signal.throwIfAborted();
        started.notify();
        return holdAmongServers({ db, name, work }, signal);
      };
      const turn = previous.then(() => slots.run(teamId, runInSlot, signal));
      const settled = turn.then(
        () => {},
        () => {},
      );
      last.set(name, settled);
      void settled.then(() => last.get(name) === settled && last.delete(name));
      await unlessAborted(Promise.race([started.notified, settled]), signal);
      return turn;
    },
  };
}

function createSignal(): { notify(): void; notified: Promise<void> } {
  let notify = () => {};
  const notified = new Promise<void>((resolve) => {
    notify = resolve;
  });
  return { notify: () => notify(), notified };
}

async function unlessAborted(awaited: Promise<void>, signal: AbortSignal): Promise<void> {
  const finished = new AbortController();
  const aborted = once(signal, "abort", { signal: finished.signal }).then(() => signal.throwIfAborted());
  // Expected to reject when `finally` cancels it.
  aborted.catch(() => {});
  try {
    signal.throwIfAborted();
    await Promise.race([awaited, aborted]);
  } finally {
    finished.abort();
  }
}

interface LockRequest<T> {
  db: Kysely<Tables>;
  name: string;
  work: () => Promise<T>;
}

async function holdAmongServers<T>({ db, name, work }: LockRequest<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const key = createHash("sha256").update(name).digest().readBigInt64BE().toString();
  return db.connection().execute(async (connection) => {
    while (!(await tryLock(connection, key))) await pause(pollIntervalMs, undefined, { signal });
    try {
      signal.throwIfAborted();
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
