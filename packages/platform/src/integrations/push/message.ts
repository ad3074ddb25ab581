// Reads the text of a notification about an ended run, and where it goes.
import type { PushMessage, PushSubscription } from "@agentcli/protocol/api";
import { outcomeWords } from "@agentcli/protocol/outcomes";
import { type PlatformContext, teamKey } from "../../foundation/index.ts";
import { agentNameAad, errorAad, resultAad } from "../../runs/index.ts";
import { subscriptionAad } from "./store.ts";

export interface DuePush {
  subscription: PushSubscription;
  message: PushMessage;
}

export interface PushIds {
  session_id: string;
  run_id: string;
}

/** Null where the session has ended meanwhile, or the agent is gone. */
export async function readDue({ db, vault }: PlatformContext, ids: PushIds): Promise<DuePush | null> {
  const row = await db
    .selectFrom("push_subscriptions")
    .innerJoin("sessions", "sessions.id", "push_subscriptions.session_id")
    .innerJoin("users", "users.id", "sessions.user_id")
    .innerJoin("agents", "agents.user_id", "sessions.user_id")
    .innerJoin("runs", "runs.agent_id", "agents.id")
    .select(["subscription", "users.team_id", "agents.id as agent_id", "agents.name", "agents.data_key"])
    .select(["runs.status", "runs.result", "runs.error_message"])
    .where("push_subscriptions.session_id", "=", ids.session_id)
    .where("runs.id", "=", ids.run_id)
    .where("sessions.ended_at", "is", null)
    .where("sessions.expires_at", ">", new Date())
    .executeTakeFirst();
  if (!row) return null;
  const { agent_id: agentId, status, result, error_message } = row;
  const key = await vault.unwrap(row.data_key);
  const text =
    (result && key.openText(result, resultAad(ids.run_id))) ||
    (error_message && key.openText(error_message, errorAad(ids.run_id))) ||
    "";
  const waits = await hasPullRequest(db, agentId);
  const outcome = status === "FINISHED" && waits ? "Finished, with a pull request to review" : outcomeWords[status];
  const sealed = (await teamKey(db, vault, row.team_id)).openText(row.subscription, subscriptionAad(ids.session_id));
  return {
    subscription: JSON.parse(sealed) as PushSubscription,
    message: {
      title: beginningOf(key.openText(row.name, agentNameAad(agentId)), maxTitle),
      body: beginningOf(text === "" ? outcome : `${outcome}: ${text.trim()}`, maxBody),
      tag: agentId,
      path: `/agents/${agentId}`,
    },
  };
}

/** A message has about 3,900 bytes, and a character at most four. */
const maxTitle = 100;
const maxBody = 400;

/** Never splits a character of two halves. */
const beginningOf = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max).replace(/[\ud800-\udbff]$/, "")}…`;

async function hasPullRequest(db: PlatformContext["db"], agentId: string): Promise<boolean> {
  const row = await db
    .selectFrom("handoffs")
    .select("agent_id")
    .where("agent_id", "=", agentId)
    .where("pr_url", "is not", null)
    .executeTakeFirst();
  return row !== undefined;
}
