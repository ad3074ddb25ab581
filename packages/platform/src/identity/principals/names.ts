// The people and service accounts of a team, as tables name them.
import type { Queries } from "../../foundation/index.ts";

/** By `user:ID` and `service_account:ID`; also users who were removed. */
export async function namesOfActors(db: Queries, teamId: number): Promise<Map<string, string>> {
  const users = await db.selectFrom("users").select(["id", "email"]).where("team_id", "=", teamId).execute();
  const accounts = await db
    .selectFrom("service_accounts")
    .select(["id", "name"])
    .where("team_id", "=", teamId)
    .execute();
  return new Map([
    ...users.map(({ id, email }) => [`user:${id}`, email] as const),
    ...accounts.map(({ id, name }) => [`service_account:${id}`, name] as const),
  ]);
}
