// Wakes agents whose events have come, as a follow-up in the same conversation: events within ten seconds together, behind
// a run that is active, once, and within the limits of the automation that started the agent. Safe to repeat.
import { createHash, randomBytes } from "node:crypto";
import { sql } from "kysely";
import { ApiError, type Principal, teamKey } from "../../foundation/index.ts";
import { openDefinition } from "../definition.ts";
import { admitWakeUp } from "../firings/admit-wake-up.ts";
import type { AutomationHost } from "../host.ts";
import { principalOfAgent } from "../identity.ts";
import type { Part } from "../work.ts";
import {
  automationDeleted,
  claimWakeUp,
  dropWakeUp,
  giveUp,
  releaseWakeUp,
  settleWakeUp,
  type WakeUpRow,
} from "./batches.ts";
import { wakeUpOf } from "./inbox.ts";
import { entryAad } from "./store.ts";
import { expireSubscriptions, fireTimers } from "./timers.ts";

export const coalesceMs = 10_000;
const maxAgents = 100;

/** While events wait for agents that are busy, it looks for their end each second. */
export const wakeUpsPart = (host: AutomationHost): Part => ({
  failure: "subscriptions.not_processed",
  dueAt: ({ timers, expiries, wakeUps }) =>
    earliest([timers, expiries, wakeUps && new Date(wakeUps.getTime() + coalesceMs)]),
  work: () => wakeAgents(host),
});

const earliest = (times: (Date | null)[]): Date | null =>
  times.reduce((left, right) => (left === null || (right !== null && right < left) ? right : left), null);

/** Once: timers, what has expired, and every agent that may be woken now. */
export async function wakeAgents(host: AutomationHost): Promise<void> {
  await fireTimers(host);
  await expireSubscriptions(host);
  const failures: unknown[] = [];
  // One that fails does not keep the others from being woken.
  for (const agentId of await findWaiting(host))
    await wakeAgent(host, agentId).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Their first event is ten seconds old, no run of theirs is active, and no limit holds them back for a moment. */
async function findWaiting({ platform: { db }, now }: AutomationHost): Promise<string[]> {
  const before = new Date(now().getTime() - coalesceMs);
  const { rows } = await sql<{ agent_id: string }>`
    select agent_id from subscription_events
    where run_id is null and created_at <= ${before}
      and not exists (
        select from runs where runs.agent_id = subscription_events.agent_id and status in ('CREATING', 'RUNNING')
      )
      and not exists (select from wake_ups where wake_ups.agent_id = subscription_events.agent_id and retry_at > ${now()})
    group by agent_id order by min(created_at) limit ${maxAgents}
  `.execute(db);
  return rows.map(({ agent_id }) => agent_id);
}

async function wakeAgent(host: AutomationHost, agentId: string): Promise<void> {
  const { db } = host.platform;
  const agent = await db.selectFrom("agents").selectAll().where("id", "=", agentId).executeTakeFirst();
  if (!agent) return;
  const wakeUp = await claimWakeUp(host, agentId);
  if (wakeUp === null) return;
  const principal = await principalOfAgent(db, agent, wakeUp.acts_as);
  const { acts_as: actsAs } = wakeUp;
  if (principal === null)
    return giveUp(host, { agentId, actsAs, reason: "The user of the agent was removed from the team." });
  const admitted = await admit(host, wakeUp);
  if (admitted.kind === "ended") return giveUp(host, { agentId, reason: admitted.reason });
  if (admitted.kind === "refused") return dropWakeUp(host, wakeUp.id, admitted.reason);
  if (admitted.kind === "admitted") await follow(host, { wakeUp, principal, budgetUsd: admitted.budgetUsd });
}

type Admitted =
  | { kind: "admitted"; budgetUsd: number | undefined }
  | { kind: "waits" }
  | { kind: "refused" | "ended"; reason: string };

/** What stops an automation stops what its agents wait for. */
async function admit(host: AutomationHost, wakeUp: WakeUpRow): Promise<Admitted> {
  if (wakeUp.automation_id === null) return { kind: "admitted", budgetUsd: undefined };
  const { db, vault } = host.platform;
  const query = db.selectFrom("automations").selectAll().where("id", "=", wakeUp.automation_id);
  const automation = await query.executeTakeFirst();
  if (!automation) return { kind: "ended", reason: automationDeleted };
  if (!automation.enabled) return { kind: "ended", reason: "Its automation is disabled." };
  const { limits } = openDefinition(await teamKey(db, vault, automation.team_id), automation);
  return admitWakeUp(host, { wakeUpId: wakeUp.id, automationId: automation.id, limits: limits ?? {} });
}

interface FollowUp {
  wakeUp: WakeUpRow;
  principal: Principal;
  budgetUsd: number | undefined;
}

async function follow(host: AutomationHost, { wakeUp, principal, budgetUsd }: FollowUp): Promise<void> {
  const { id, agent_id: agentId } = wakeUp;
  const { prompt, inbox } = await readEvents(host, principal.teamId, id);
  const idempotencyKey = { key: id, hash: createHash("sha256").update(id).digest() };
  const submission = { principal, requestId: id, source: "SUBSCRIPTION", idempotencyKey, budgetUsd };
  try {
    const { runId } = await host.submit.createRun(agentId, { prompt: { text: prompt }, inbox }, submission);
    await settleWakeUp(host, id, runId);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 429 || error.status >= 500) throw error;
    if (error.code === "agent_busy") return releaseWakeUp(host, id);
    const { acts_as: actsAs } = wakeUp;
    await giveUp(host, { agentId, reason: error.message, ...(!ofWholeAgent.includes(error.code) && { actsAs }) });
  }
}

/** They hold for every person; what else is refused may be allowed to others. */
const ofWholeAgent: string[] = ["agent_archived", "spend_limit_reached"];

async function readEvents({ platform: { db, vault } }: AutomationHost, teamId: number, wakeUpId: string) {
  const key = await teamKey(db, vault, teamId);
  const rows = await db
    .selectFrom("subscription_events")
    .innerJoin("subscriptions", "subscriptions.id", "subscription_events.subscription_id")
    .selectAll("subscription_events")
    .select("subscriptions.source")
    .where("batch_id", "=", wakeUpId)
    .orderBy("subscription_events.created_at")
    .orderBy("event_id")
    .execute();
  const events = rows.map(({ subscription_id, event_id, entry, created_at, source }) => ({
    ...{ subscriptionId: subscription_id, receivedAt: created_at, isFix: source === "ci_fix" },
    entry: key.openText(entry, entryAad(subscription_id, event_id)),
  }));
  return wakeUpOf(wakeUpId, events, randomBytes(12).toString("hex"));
}
