// Replays stored events for an automation: each that would start it becomes a firing whose run only proposes and reaches
// nothing. The scheduler starts them like others.
import { isDatabaseAway, type Queries, teamKey } from "../../foundation/index.ts";
import { openDefinition } from "../definition.ts";
import { mismatchOf } from "../filter.ts";
import { openPayload, sealPayload } from "../firings/payload.ts";
import type { FiringPayload } from "../firings/prompt.ts";
import { type FiringRow, firingValues } from "../firings/store.ts";
import type { AutomationHost } from "../host.ts";
import { judgeStored, readStored } from "../inbound/stored.ts";
import type { AutomationRow } from "../store.ts";
import type { Part } from "../work.ts";
import { type BacktestRow, type ReplayedEvent, sealItems } from "./store.ts";

export const backtestsPart = (host: AutomationHost): Part => ({
  failure: "automations.backtest_not_started",
  dueAt: ({ backtests }) => backtests,
  work: () => startBacktests(host),
});

/** All that are requested, one after another. */
export async function startBacktests(host: AutomationHost): Promise<void> {
  while (await host.platform.db.transaction().execute((tx) => startNext(host, tx)));
}

/** False where none is requested, or other servers have them all. */
async function startNext(host: AutomationHost, tx: Queries): Promise<boolean> {
  const row = await tx
    .selectFrom("automation_backtests")
    .selectAll()
    .where("items", "is", null)
    .orderBy("created_at")
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  if (!row) return false;
  const automation = await tx
    .selectFrom("automations")
    .selectAll()
    .where("id", "=", row.automation_id)
    .executeTakeFirstOrThrow();
  const key = await teamKey(tx, host.platform.vault, automation.team_id);
  const items: ReplayedEvent[] = [];
  for (const { payload, source, ...event } of await findEvents(host, automation, row.last))
    items.push(event.outcome === "start" ? { ...event, firingId: await insert({ payload, source }) } : event);
  await tx
    .updateTable("automation_backtests")
    .set({ items: sealItems(key, row.id, items) })
    .where("id", "=", row.id)
    .execute();
  return true;

  /** Without a trigger: it is neither planned nor skipped with one. */
  async function insert({ payload, source }: Pick<Replay, "payload" | "source">): Promise<string> {
    const firing = { automationId: automation.id, source, triggerId: null, plannedAt: host.now(), dedupeKey: null };
    const values = firingValues(firing);
    const sealed = payload && sealPayload(key, values.id, payload);
    const replayed = { effects: "backtest" as const, backtest_id: (row as BacktestRow).id };
    await tx
      .insertInto("automation_firings")
      .values({ ...values, ...replayed, payload: sealed })
      .execute();
    return values.id;
  }
}

interface Replay extends ReplayedEvent {
  source: FiringRow["source"];
  payload: FiringPayload | null;
}

/** Events of source hosts, webhooks and schedules, latest first. */
async function findEvents(host: AutomationHost, automation: AutomationRow, last: number): Promise<Replay[]> {
  const ofHosts: Replay[] = [];
  for (const row of await readStored(host.platform.db, automation.team_id, last)) {
    const shared = { source: row.type, payload: null };
    const judged = await judgeStored(host, automation, row).catch((error: unknown) => {
      if (isDatabaseAway(error)) throw error;
      host.platform.log.error("automations.event_not_replayed", error, { eventId: row.id });
      return null;
    });
    if (judged === null) {
      ofHosts.push({ ...shared, ...unreadable, event: row.name, receivedAt: row.created_at.toISOString() });
      continue;
    }
    if (judged.outcome === "none") ofHosts.push({ ...judged, ...shared, reason: noTrigger });
    else ofHosts.push({ ...shared, ...judged });
  }
  return [...ofHosts, ...(await findFired(host, automation, last))]
    .sort((left, right) => (left.receivedAt < right.receivedAt ? 1 : -1))
    .slice(0, last);
}

const noTrigger = "No trigger of the automation is for this event.";
/** The others are replayed without it. */
const unreadable = {
  outcome: "skip",
  reason: "The event could not be read; the server's log has the reason.",
} as const;

/** Requests to its webhook that once started it, and times of its schedules. */
async function findFired(
  { platform: { db, vault } }: AutomationHost,
  automation: AutomationRow,
  last: number,
): Promise<Replay[]> {
  const key = await teamKey(db, vault, automation.team_id);
  const { triggers } = openDefinition(key, automation);
  const rows = await db
    .selectFrom("automation_firings")
    .selectAll()
    .where("automation_id", "=", automation.id)
    .where("backtest_id", "is", null)
    .where("status", "=", "started")
    .where("source", "in", ["webhook", "schedule"])
    .orderBy("planned_at", "desc")
    .limit(last)
    .execute();
  const webhook = triggers.find(({ type }) => type === "webhook");
  return rows.map((row) => {
    const payload = row.payload && openPayload(key, row.id, row.payload);
    const event = { source: row.source, event: row.source, receivedAt: row.planned_at.toISOString(), payload };
    if (row.source === "schedule") return { ...event, outcome: "start" };
    if (webhook?.type !== "webhook") return { ...event, outcome: "none", reason: noTrigger };
    const reason = webhook.filter ? mismatchOf(webhook.filter, parse(payload?.body ?? "")) : null;
    return reason === null ? { ...event, outcome: "start" } : { ...event, outcome: "skip", reason };
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
