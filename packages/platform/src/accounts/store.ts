// Accounts of users on source hosts, as they are kept.
import type { Kysely } from "kysely";
import type { Tables } from "../db/index.ts";

/** The person that a run worked for, by their name on the host of its repository. */
export async function reviewersOf(
  db: Kysely<Tables>,
  { runId, host }: { runId: string; host: string },
): Promise<string[]> {
  const accounts = await db
    .selectFrom("runs")
    .innerJoin("source_accounts", "source_accounts.user_id", "runs.user_id")
    .select("login")
    .where("runs.id", "=", runId)
    .where("host", "=", host)
    .execute();
  return accounts.map(({ login }) => login);
}
