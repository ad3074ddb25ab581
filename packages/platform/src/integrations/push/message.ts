// Reads the text of a notification about an ended run or a draft build, and where it goes.
import type { PushMessage, PushSubscription } from "@agentcli/protocol/api";
import { outcomeWords } from "@agentcli/protocol/outcomes";
import { draftsToDecide } from "../../environments/index.ts";
import { type PlatformContext, teamKey } from "../../foundation/index.ts";
import { agentNameAad, errorAad, resultAad } from "../../runs/index.ts";
import { subscriptionAad } from "./store.ts";

export interface DuePush {
  subscription: PushSubscription;
  message: PushMessage;
}

export interface PushIds {
  session_id: string;
  /** Null: it is about a build. */
  run_id: string | null;
  build_id: string | null;
}

/** Null where the session has ended meanwhile, or the agent is gone; `decided` where there is nothing to say any more. */
export async function readDue(context: PlatformContext, ids: PushIds): Promise<DuePush | "decided" | null> {
  const { session_id, run_id, build_id } = ids;
  if (run_id !== null) return readRun(context, { session_id, run_id });
  return build_id === null ? "decided" : readDraft(context, { session_id, build_id });
}

async function readDraft(
  { db, vault }: PlatformContext,
  ids: { session_id: string; build_id: string },
): Promise<DuePush | "decided" | null> {
  const row = await db
    .selectFrom("push_subscriptions")
    .innerJoin("sessions", "sessions.id", "push_subscriptions.session_id")
    .innerJoin("users", "users.id", "sessions.user_id")
    .select(["subscription", "users.id", "users.team_id", "users.role"])
    .where("push_subscriptions.session_id", "=", ids.session_id)
    .where("sessions.ended_at", "is", null)
    .where("sessions.expires_at", ">", new Date())
    .executeTakeFirst();
  if (!row) return null;
  const draft = await draftsToDecide(db, { teamId: row.team_id, userId: row.id, isTeamManager: row.role === "admin" })
    .select(["environments.id", "environments.name"])
    .where("environment_builds.id", "=", ids.build_id)
    .executeTakeFirst();
  if (!draft) return "decided";
  const sealed = (await teamKey(db, vault, row.team_id)).openText(row.subscription, subscriptionAad(ids.session_id));
  return {
    subscription: JSON.parse(sealed) as PushSubscription,
    message: {
      title: beginningOf(draft.name, maxTitle),
      body: "Needs your approval: a draft build is ready to be activated",
      tag: ids.build_id,
      path: `/environments/${draft.id}/builds/${ids.build_id}`,
    },
  };
}

async function readRun(
  { db, vault }: PlatformContext,
  ids: { session_id: string; run_id: string },
): Promise<DuePush | null> {
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
