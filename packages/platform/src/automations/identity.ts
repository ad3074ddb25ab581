// Whom the runs of an automation act for: its user, or the service account of the team's automations.
import { type Principal, type Queries, scopesOf } from "../foundation/index.ts";
import { ensureServiceAccount } from "../identity/index.ts";
import type { AutomationRow } from "./store.ts";

/** Of each team that has an automation of the scope `team_owned`. */
export const serviceAccountName = "automations";

/** Null where its user was removed. Never an administrator's rights: no person watches the run. */
export async function principalOf(db: Queries, automation: AutomationRow): Promise<Principal | null> {
  const shared = {
    teamId: automation.team_id,
    keyId: automation.id,
    keyName: automation.name,
    createdAt: automation.created_at,
    scopes: scopesOf(null),
  };
  if (automation.user_id === null) {
    const serviceAccountId = await ensureServiceAccount(db, { id: automation.team_id }, serviceAccountName);
    return { ...shared, kind: "service_account", serviceAccountId, name: serviceAccountName };
  }
  const user = await db
    .selectFrom("users")
    .selectAll()
    .where("id", "=", automation.user_id)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  if (!user) return null;
  const { id: userId, email, first_name: firstName, last_name: lastName } = user;
  return { ...shared, kind: "user", userId, email, firstName, lastName, role: "member" };
}
