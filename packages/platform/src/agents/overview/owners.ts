// Names of the owners of agents.
import type { AgentOwner } from "@agentcli/protocol/api";
import type { Queries } from "../../foundation/index.ts";
import { type Principal, relationOf } from "../../identity/index.ts";

interface Owned {
  user_id: number | null;
  service_account_id: string | null;
}

/** Looks all names up at once; returns the owner of each agent. */
export async function readOwners(
  db: Queries,
  principal: Principal,
  agents: Owned[],
): Promise<(agent: Owned) => AgentOwner> {
  const users = await namesOfUsers(db, distinct(agents.map(({ user_id }) => user_id)));
  const accounts = await namesOfAccounts(db, distinct(agents.map(({ service_account_id }) => service_account_id)));
  return (agent) => {
    const isCaller = relationOf(principal, agent) === "owner";
    const user = agent.user_id === null ? undefined : users.get(agent.user_id);
    if (user !== undefined) return { kind: "user", name: user, isCaller };
    const account = agent.service_account_id === null ? undefined : accounts.get(agent.service_account_id);
    if (account !== undefined) return { kind: "service_account", name: account, isCaller };
    return { kind: "removed", name: "a user who no longer exists", isCaller: false };
  };
}

const distinct = <T>(values: (T | null)[]): T[] => [...new Set(values)].filter((value) => value !== null);

async function namesOfUsers(db: Queries, ids: number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom("users").select(["id", "email"]).where("id", "in", ids).execute();
  return new Map(rows.map(({ id, email }) => [id, email]));
}

async function namesOfAccounts(db: Queries, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom("service_accounts").select(["id", "name"]).where("id", "in", ids).execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}
