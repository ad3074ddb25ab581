// What a visitor may do with an agent, and what its page says where that is not everything.
import type { AgentHost, ListedAgent } from "../agents/index.ts";
import type { Queries } from "../db/index.ts";
import type { Principal } from "../principals/index.ts";
import { relationOf } from "../sharing/index.ts";

export interface SharedView {
  mayFollowUp: boolean;
  mayManage: boolean;
  /** The latest run: whoever asked for it may too. */
  mayCancel: boolean;
  /** Whose agent it is, and why it can only be read; null for its owner. */
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
    mayCancel: mayManage || (await isAsker(db, principal, agent)),
    notice: `This agent belongs to ${await ownerName(db, agent)}. ${follow}`,
  };
}

async function isAsker(db: Queries, principal: Principal, { latest_run_id }: ListedAgent): Promise<boolean> {
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
  return account ? `the service account ${account.name}` : "nobody any more";
}
