// Whom the runs of an automation act for: its user, or the service account of the team's automations.
import { type Principal, type Queries, scopesOf } from "../foundation/index.ts";
import { ensureServiceAccount } from "../identity/index.ts";
import type { AutomationRow } from "./store.ts";

/** Of each team that has an automation of the scope `team_owned`. */
export const serviceAccountName = "automations";

/** Null where its user was removed, or has proved the address since. Never an administrator's rights: no person watches the run. */
export async function principalOf(db: Queries, automation: AutomationRow): Promise<Principal | null> {
  const shared = {
    teamId: automation.team_id,
    keyId: automation.id,
    keyName: automation.name,
    createdAt: automation.created_at,
    scopes: scopesOf(null),
  };
  if (automation.user_id !== null) return principalOfUser(db, automation.user_id, shared);
  const serviceAccountId = await ensureServiceAccount(db, { id: automation.team_id }, serviceAccountName);
  return { ...shared, kind: "service_account", serviceAccountId, name: serviceAccountName };
}

export interface AgentOwner {
  id: string;
  team_id: number;
  user_id: number | null;
  service_account_id: string | null;
  created_at: Date;
}

/** Who subscribed it, or its owner where that is not known; with the rights of a member. Null where they were removed. */
export async function principalOfAgent(
  db: Queries,
  agent: AgentOwner,
  actsAs: string | null,
): Promise<Principal | null> {
  const { id, team_id: teamId, created_at: createdAt } = agent;
  const shared = { teamId, keyId: id, keyName: id, createdAt, scopes: scopesOf(null) };
  const [, kind, named] = /^(user|service_account):(.+)$/.exec(actsAs ?? ownerOf(agent)) ?? [];
  if (kind === "user") return principalOfUser(db, Number(named), shared);
  if (named === undefined) return null;
  const account = await db
    .selectFrom("service_accounts")
    .select(["id", "name"])
    .where("id", "=", named)
    .where("team_id", "=", teamId)
    .executeTakeFirst();
  return account ? { ...shared, kind: "service_account", serviceAccountId: account.id, name: account.name } : null;
}

const ownerOf = ({ user_id, service_account_id }: AgentOwner): string =>
  user_id === null ? `service_account:${service_account_id}` : `user:${user_id}`;

type SharedMembers = Pick<Principal, "teamId" | "keyId" | "keyName" | "createdAt" | "scopes">;

async function principalOfUser(db: Queries, id: number, shared: SharedMembers): Promise<Principal | null> {
  const query = db.selectFrom("users").selectAll().where("id", "=", id).where("removed_at", "is", null);
  const user = await query.executeTakeFirst();
  // Another person may have made it: one who joined by a link, under this address.
  if (!user || (user.proved_at !== null && shared.createdAt < user.proved_at)) return null;
  const { id: userId, email, first_name: firstName, last_name: lastName } = user;
  return { ...shared, kind: "user", userId, email, firstName, lastName, role: "member" };
}
