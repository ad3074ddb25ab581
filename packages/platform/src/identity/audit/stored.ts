// The audit log in the database, read from one snapshot.
import type { Kysely, Transaction } from "kysely";
import type { Tables } from "../../foundation/index.ts";
import type { AuditLink, AuditLog } from "./chain.ts";
import { usualLockLimitMs, withLockLimit } from "./lock-limit.ts";

/** Throws LockHeld. */
export const withStoredLog = <T>(db: Kysely<Tables>, use: (log: AuditLog) => Promise<T>): Promise<T> =>
  readUnlocked(db, (transaction) =>
    use({
      links: () => readLinks(transaction, null),
      head: async () => (await headQuery(transaction).executeTakeFirst()) ?? null,
    }),
  );

/** From one snapshot. Throws LockHeld. */
export const readUnlocked = <T>(
  db: Kysely<Tables>,
  read: (tx: Transaction<Tables>) => Promise<T>,
  limitMs = usualLockLimitMs,
): Promise<T> =>
  db
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute((tx) => withLockLimit(tx, { limitMs, what: notRead }, () => read(tx)));

const notRead = "The audit log, or what it is compared with, cannot be read";

export const headQuery = (db: Kysely<Tables>) => db.selectFrom("audit_head").select(["seq", "hash"]);

const pageSize = 1000;

/** Entries with a higher number, in order, also where several have the same one. Null: all of them, whatever their numbers. */
export async function* readLinks(db: Kysely<Tables>, behind: number | null): AsyncGenerator<AuditLink> {
  for (let first = await nextNumber(db, behind); first !== null; ) {
    const last = first + pageSize - 1;
    // One more than a whole log has there: then two have the same number.
    yield* await db
      .selectFrom("audit_entries")
      .selectAll()
      .where("seq", ">=", first)
      .where("seq", "<=", last)
      .orderBy("seq")
      .limit(pageSize + 1)
      .execute();
    first = await nextNumber(db, last);
  }
}

async function nextNumber(db: Kysely<Tables>, after: number | null): Promise<number | null> {
  const entries = db.selectFrom("audit_entries").select("seq").orderBy("seq").limit(1);
  const row = await (after === null ? entries : entries.where("seq", ">", after)).executeTakeFirst();
  return row?.seq ?? null;
}
