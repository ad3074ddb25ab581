// Reads of the audit log do not wait for ever: a session of the database can hold a lock for as long as it lives.
import { sql, type Transaction } from "kysely";
import type { Tables } from "../../foundation/index.ts";

/** What reads the log takes milliseconds: a session that holds a lock for longer keeps the log from being proved. */
export const usualLockLimitMs = 10_000;

export class LockHeld extends Error {
  override name = "LockHeld";
  readonly exit = "failure";
}

const lockNotAvailable = "55P03";

/** All statements of the transaction. Throws LockHeld, with `what` cannot be done. */
export async function withLockLimit<T>(
  tx: Transaction<Tables>,
  { limitMs, what }: { limitMs: number; what: string },
  work: () => Promise<T>,
): Promise<T> {
  await sql.raw(`set local lock_timeout = ${limitMs}`).execute(tx);
  try {
    return await work();
  } catch (error) {
    if ((error as { code?: string }).code !== lockNotAvailable) throw error;
    throw new LockHeld(
      `${what}: a session of the database has held a lock for ${limitMs / 1000} s. Find it in pg_locks and end it.`,
      { cause: error },
    );
  }
}
