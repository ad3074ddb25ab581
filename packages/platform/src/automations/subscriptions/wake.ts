// Wakes agents whose events have come, as a follow-up in the same conversation: events within ten seconds together, behind
// a run that is active, once. Safe to repeat: a batch has an id before its run, and the run is created once per id.
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { sql } from "kysely";
import { type Activity, ApiError, teamKey } from "../../foundation/index.ts";
import type { AutomationHost } from "../host.ts";
import { principalOfAgent } from "../identity.ts";
import { repeat } from "../repeat.ts";
import { wakeUpOf } from "./inbox.ts";
import { entryAad } from "./store.ts";
import { expireSubscriptions, fireTimers } from "./timers.ts";

export const coalesceMs = 10_000;
const pollIntervalMs = 1_000;
const maxAgents = 100;
const maxEvents = 500;

export const startWakeUps = (host: AutomationHost): Activity =>
  repeat(host, { failure: "subscriptions.not_processed", work: () => wakeAgents(host), intervalMs: pollIntervalMs });

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

/** Their first event is ten seconds old, and no run of theirs is active. */
async function findWaiting({ platform: { db }, now }: AutomationHost): Promise<string[]> {
  const before = new Date(now().getTime() - coalesceMs);
  const { rows } = await sql<{ agent_id: string }>`
    select agent_id from subscription_events
    where run_id is null and created_at <= ${before}
      and not exists (
        select from runs where runs.agent_id = subscription_events.agent_id and status in ('CREATING', 'RUNNING')
      )
    group by agent_id order by min(created_at) limit ${maxAgents}
  `.execute(db);
  return rows.map(({ agent_id }) => agent_id);
}

async function wakeAgent(host: AutomationHost, agentId: string): Promise<void> {
  const { db } = host.platform;
  const agent = await db.selectFrom("agents").selectAll().where("id", "=", agentId).executeTakeFirst();
  if (!agent) return;
  const batchId = await claimBatch(host, agentId);
  if (batchId === null) return;
  if (await isOfDisabledAutomation(host, agentId)) return giveUp(host, agentId, "Its automation is disabled.");
  const principal = await principalOfAgent(db, agent);
  if (principal === null) return giveUp(host, agentId, "The user of the agent was removed from the team.");
  const { prompt, inbox } = await readBatch(host, agent.team_id, batchId);
  const hash = createHash("sha256").update(batchId).digest();
  const submission = { principal, requestId: batchId, source: "SUBSCRIPTION", idempotencyKey: { key: batchId, hash } };
  try {
    const { runId } = await host.submit.createRun(agentId, { prompt: { text: prompt }, inbox }, submission);
    await db.updateTable("subscription_events").set({ run_id: runId }).where("batch_id", "=", batchId).execute();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 429 || error.status >= 500) throw error;
    // Nothing was created: what waits is joined by what comes.
    if (error.code === "agent_busy") return releaseBatch(host, batchId);
    await giveUp(host, agentId, error.message);
  }
}

/** What stops an automation stops what its agents wait for. */
async function isOfDisabledAutomation({ platform: { db } }: AutomationHost, agentId: string): Promise<boolean> {
  const row = await db
    .selectFrom("automation_firings")
    .innerJoin("automations", "automations.id", "automation_firings.automation_id")
    .innerJoin("agents", "agents.id", "automation_firings.agent_id")
    .select("automations.id")
    .where("automation_firings.agent_id", "=", agentId)
    .whereRef("agents.team_id", "=", "automations.team_id")
    .where("automations.enabled", "=", false)
    .executeTakeFirst();
  return row !== undefined;
}

/** One that a crashed server has claimed is resumed alone: its run may be there. */
async function claimBatch({ platform: { db } }: AutomationHost, agentId: string): Promise<string | null> {
  return db.transaction().execute(async (tx) => {
    const rows = await tx
      .selectFrom("subscription_events")
      .select(["subscription_id", "event_id", "batch_id"])
      .where("agent_id", "=", agentId)
      .where("run_id", "is", null)
      .orderBy("created_at")
      .limit(maxEvents)
      .forUpdate()
      .skipLocked()
      .execute();
    const claimed = rows.find(({ batch_id }) => batch_id !== null);
    if (claimed || rows.length === 0) return claimed?.batch_id ?? null;
    const batchId = `wake-${randomUUID()}`;
    for (const { subscription_id, event_id } of rows)
      await tx
        .updateTable("subscription_events")
        .set({ batch_id: batchId })
        .where("subscription_id", "=", subscription_id)
        .where("event_id", "=", event_id)
        .execute();
    return batchId;
  });
}

async function readBatch({ platform: { db, vault } }: AutomationHost, teamId: number, batchId: string) {
  const key = await teamKey(db, vault, teamId);
  const rows = await db
    .selectFrom("subscription_events")
    .selectAll()
    .where("batch_id", "=", batchId)
    .orderBy("created_at")
    .orderBy("event_id")
    .execute();
  const events = rows.map(({ subscription_id, event_id, entry, created_at }) => ({
    ...{ subscriptionId: subscription_id, receivedAt: created_at },
    entry: key.openText(entry, entryAad(subscription_id, event_id)),
  }));
  return wakeUpOf(batchId, events, randomBytes(12).toString("hex"));
}

async function releaseBatch({ platform: { db } }: AutomationHost, batchId: string): Promise<void> {
  await db.updateTable("subscription_events").set({ batch_id: null }).where("batch_id", "=", batchId).execute();
}

/** It would fail again and again: the subscriptions of the agent end and say why. */
async function giveUp({ platform: { db } }: AutomationHost, agentId: string, reason: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable("subscriptions")
      .set({ status: "cancelled", ended_reason: `The agent could not be woken. ${reason}`, next_at: null })
      .where("agent_id", "=", agentId)
      .where("status", "=", "active")
      .execute();
    await tx.deleteFrom("subscription_events").where("agent_id", "=", agentId).where("run_id", "is", null).execute();
  });
}
