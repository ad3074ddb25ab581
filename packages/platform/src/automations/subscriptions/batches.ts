// Wake-ups in the database: events that wake an agent together. One has an id before its run, which is created once per id.
import { randomUUID } from "node:crypto";
import { type Selectable, sql } from "kysely";
import type { CauseLink, Queries, WakeUpTable } from "../../foundation/index.ts";
import type { AutomationHost } from "../host.ts";
import { startedAgents } from "../started-agents.ts";
import { noteSkipped } from "./store.ts";

export type WakeUpRow = Selectable<WakeUpTable>;

const maxEvents = 500;

/** One that a crashed server has claimed is resumed alone: its run may be there. Null where nothing waits. */
export function claimWakeUp(host: AutomationHost, agentId: string): Promise<WakeUpRow | null> {
  const { platform, now } = host;
  return platform.db.transaction().execute(async (tx) => {
    await freeLost(tx, agentId);
    const rows = await tx
      .selectFrom("subscription_events")
      .innerJoin("subscriptions", "subscriptions.id", "subscription_events.subscription_id")
      .select(["subscription_id", "event_id", "batch_id", "causes", "acts_as"])
      .where("subscription_events.agent_id", "=", agentId)
      .where("run_id", "is", null)
      .orderBy("subscription_events.created_at")
      .orderBy("event_id")
      .limit(maxEvents)
      .forUpdate("subscription_events")
      .skipLocked()
      .execute();
    const claimed = rows.find(({ batch_id }) => batch_id !== null);
    if (claimed?.batch_id) return findWakeUp(tx, claimed.batch_id);
    const [first] = rows;
    if (first === undefined) return null;
    // Events of several people do not come together: a run acts for one of them.
    const together = rows.filter(({ acts_as }) => acts_as === first.acts_as);
    const id = `wake-${randomUUID()}`;
    for (const { subscription_id, event_id } of together)
      await tx
        .updateTable("subscription_events")
        .set({ batch_id: id })
        .where("subscription_id", "=", subscription_id)
        .where("event_id", "=", event_id)
        .execute();
    const shared = { id, agent_id: agentId, acts_as: first.acts_as, created_at: now() };
    const automation_id = await automationOfAgent(tx, agentId);
    const causes = JSON.stringify(longest(together.map((row) => row.causes)));
    return tx
      .insertInto("wake_ups")
      .values({ ...shared, automation_id, causes })
      .returningAll()
      .executeTakeFirstOrThrow();
  });
}

/** A claim without its wake-up is none; where its run is there, the events were delivered. */
async function freeLost(tx: Queries, agentId: string): Promise<void> {
  const isLost = sql`
    run_id is null and batch_id is not null and waiting.agent_id = ${agentId}
      and not exists (select from wake_ups where wake_ups.id = batch_id)
  `;
  await sql`
    update subscription_events as waiting set run_id = runs.id from runs
    where runs.agent_id = waiting.agent_id and runs.request_id = batch_id and ${isLost}
  `.execute(tx);
  await sql`update subscription_events as waiting set batch_id = null where ${isLost}`.execute(tx);
}

const longest = (chains: CauseLink[][]): CauseLink[] =>
  chains.reduce((left, right) => (right.length > left.length ? right : left), []);

const findWakeUp = async (tx: Queries, id: string): Promise<WakeUpRow | null> =>
  (await tx.selectFrom("wake_ups").selectAll().where("id", "=", id).executeTakeFirst()) ?? null;

const agentsOfAutomations = (tx: Queries) =>
  tx
    .selectFrom(startedAgents(tx))
    .innerJoin("automations", "automations.id", "started.automation_id")
    .innerJoin("agents", "agents.id", "started.agent_id")
    .where("agents.source", "=", "AUTOMATION")
    .whereRef("agents.team_id", "=", "automations.team_id");

async function automationOfAgent(tx: Queries, agentId: string): Promise<string | null> {
  const query = agentsOfAutomations(tx).select("automations.id").where("started.agent_id", "=", agentId);
  return (await query.executeTakeFirst())?.id ?? null;
}

/** Its run is there. */
export async function settleWakeUp({ platform: { db } }: AutomationHost, id: string, runId: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`
      update subscriptions set wake_ups = wake_ups + 1 where id in (
        select subscription_id from subscription_events where batch_id = ${id} and run_id is null
      )
    `.execute(tx);
    await tx.updateTable("subscription_events").set({ run_id: runId }).where("batch_id", "=", id).execute();
  });
}

/** Nothing was created: what waits is joined by what comes. */
export async function releaseWakeUp({ platform: { db } }: AutomationHost, id: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx.updateTable("subscription_events").set({ batch_id: null }).where("batch_id", "=", id).execute();
    await tx.deleteFrom("wake_ups").where("id", "=", id).execute();
  });
}

/** Nothing was created, and nothing will be: the subscriptions stay and say why. */
export async function dropWakeUp(host: AutomationHost, id: string, reason: string): Promise<void> {
  const now = host.now();
  await host.platform.db.transaction().execute(async (tx) => {
    const events = await tx
      .deleteFrom("subscription_events")
      .where("batch_id", "=", id)
      .where("run_id", "is", null)
      .returning("subscription_id")
      .execute();
    for (const subscription of new Set(events.map(({ subscription_id }) => subscription_id)))
      await noteSkipped({ db: tx, now }, subscription, reason);
    await tx.deleteFrom("wake_ups").where("id", "=", id).execute();
  });
}

export interface Failure {
  agentId: string;
  /** Whose wake-ups fail, null: those of the owner; left out: all of the agent. */
  actsAs?: string | null;
  reason: string;
}

/** It would fail again and again: the subscriptions end and say why. */
export const giveUp = ({ platform: { db } }: AutomationHost, failure: Failure): Promise<void> =>
  db.transaction().execute((tx) => giveUpIn(tx, failure));

async function giveUpIn(tx: Queries, { agentId, actsAs, reason }: Failure): Promise<void> {
  const isMeant = actsAs === undefined ? sql<boolean>`true` : sql<boolean>`acts_as is not distinct from ${actsAs}`;
  await sql`
    delete from subscription_events where agent_id = ${agentId} and run_id is null and subscription_id in (
      select id from subscriptions where agent_id = ${agentId} and ${isMeant}
    )
  `.execute(tx);
  await tx
    .updateTable("subscriptions")
    .set({ status: "cancelled", ended_reason: `The agent could not be woken. ${reason}`, next_at: null })
    .where("agent_id", "=", agentId)
    .where("status", "=", "active")
    .where(isMeant)
    .execute();
  // One without a run would count as active.
  await sql`
    delete from wake_ups where agent_id = ${agentId} and ${isMeant}
      and not exists (select from runs where runs.agent_id = ${agentId} and runs.request_id = wake_ups.id)
  `.execute(tx);
}

export const automationDeleted = "Its automation was deleted.";

/** In the transaction that deletes the automation. */
export async function giveUpAgents(tx: Queries, automationId: string): Promise<void> {
  const agents = await agentsOfAutomations(tx)
    .select("agents.id")
    .distinct()
    .where("automations.id", "=", automationId)
    .execute();
  for (const { id } of agents) await giveUpIn(tx, { agentId: id, reason: automationDeleted });
}
