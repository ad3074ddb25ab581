// What the caller may do with an agent, and what its page says if that is restricted.
import type { AgentOwner, AgentPermissions } from "@agentcli/protocol/api";
import type { Queries } from "../../foundation/index.ts";
import { type Principal, relationOf } from "../../identity/index.ts";
import type { AgentAccess } from "../access.ts";
import type { ListedAgent } from "../views/views.ts";

export interface PermissionContext {
  db: Queries;
  access: AgentAccess;
  principal: Principal;
}

export async function readPermissions(
  { db, access, principal }: PermissionContext,
  agent: ListedAgent,
  owner: AgentOwner,
): Promise<AgentPermissions> {
  const mayWrite = principal.scopes.includes("agents:write");
  if (relationOf(principal, agent) === "owner") return { followUp: mayWrite, cancel: mayWrite, manage: mayWrite };
  const refusal = await access.refusal(principal, agent, "follow_up");
  const manage = mayWrite && (await access.refusal(principal, agent, "manage")) === null;
  const name = owner.kind === "service_account" ? `the service account ${owner.name}` : owner.name;
  const follow = refusal ?? "It takes follow-ups from your team; they reach what you can reach yourself.";
  return {
    followUp: mayWrite && refusal === null,
    manage,
    cancel: manage || (mayWrite && (await isRequester(db, principal, agent))),
    notice: `This agent belongs to ${name}. ${follow}`,
  };
}

async function isRequester(db: Queries, principal: Principal, { latest_run_id }: ListedAgent): Promise<boolean> {
  const run = await db
    .selectFrom("runs")
    .select(["user_id", "service_account_id"])
    .where("id", "=", latest_run_id)
    .executeTakeFirst();
  return run !== undefined && relationOf(principal, run) === "owner";
}
