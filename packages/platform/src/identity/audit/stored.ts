// The audit log in the database, read from one snapshot.
import type { Kysely } from "kysely";
import type { Tables } from "../../foundation/index.ts";
import type { AuditLink, AuditLog } from "./chain.ts";

export function withStoredLog<T>(db: Kysely<Tables>, use: (log: AuditLog) => Promise<T>): Promise<T> {
  return db
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute((transaction) =>
      use({
        links: () => readLinks(transaction, null),
        head: async () => (await headQuery(transaction).executeTakeFirst()) ?? null,
      }),
    );
}

export const headQuery = (db: Kysely<Tables>) => db.selectFrom("audit_head").select(["seq", "hash"]);

const pageSize = 1000;

/** Entries with a higher number, in order. Null: all of them, whatever their numbers. */
export async function* readLinks(db: Kysely<Tables>, behind: number | null): AsyncGenerator<AuditLink> {
  const entries = db.selectFrom("audit_entries").selectAll().orderBy("seq").limit(pageSize);
  for (let after = behind; ; ) {
    const page = await (after === null ? entries : entries.where("seq", ">", after)).execute();
    yield* page;
    const last = page.at(-1);
    if (!last) return;
    after = last.seq;
  }
}
