// What a visitor may do with an agent, and what its page shows if that is restricted.
import type { AgentHost, ListedAgent } from "../agents/index.ts";
import type { Queries } from "../foundation/index.ts";
import { type Principal, relationOf } from "../identity/index.ts";

export interface SharedView {
  mayFollowUp: boolean;
  mayManage: boolean;
  /** The latest run; its requester may cancel it too. */
  mayCancel: boolean;
  /** The owner of the agent and why it is read-only; null for the owner. */
  notice: string | null;
}

const everything: SharedView = { mayFollowUp: true, mayManage: true, mayCancel: true, notice: null };

export async function sharedView(
  { platform: { db }, access }: Pick<AgentHost, "platform" | "access">,
  principal: Principal,
  agent: ListedAgent,
): Promise<SharedView> {
  if (relationOf(principal, agent) === "owner") return everything;
  const refusal = await access.refusal(principal, agent, "follow_up");
  const mayManage = (await access.refusal(principal, agent, "manage")) === null;
  const follow = refusal ?? "It takes follow-ups from your team; they reach what you can reach yourself.";
  return {
    mayFollowUp: refusal === null,
    mayManage,
    mayCancel: mayManage || (await isRequester(db, principal, agent)),
    notice: `This agent belongs to ${await ownerName(db, agent)}. ${follow}`,
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

async function ownerName(db: Queries, { user_id, service_account_id }: ListedAgent): Promise<string> {
  const user = await db.selectFrom("users").select("email").where("id", "=", user_id).executeTakeFirst();
  if (user) return user.email;
  const account = await db
    .selectFrom("service_accounts")
    .select("name")
    .where("id", "=", service_account_id)
    .executeTakeFirst();
  return account ? `the service account ${account.name}` : "a user who no longer exists";
}
