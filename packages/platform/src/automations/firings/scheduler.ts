// Starts firings when their time has come, never before: of schedules, and those that a crashed server left.
import { type Insertable, sql } from "kysely";
import { type Activity, type AutomationFiringTable, actingAs, type Queries } from "../../foundation/index.ts";
import { raiseAlert, raiseOverdueAlerts } from "../alerts.ts";
import type { AutomationHost } from "../host.ts";
import { repeat } from "../repeat.ts";
import type { AutomationRow } from "../store.ts";
import { inTurns } from "../turns.ts";
import type { Part } from "../work.ts";
import { graceMs, judgeDue } from "./judge.ts";
import { failFiring, startFiring } from "./start.ts";
import { decideFiring, type FiringRow, firingValues, scheduledFiring, scheduleOf } from "./store.ts";

/** A server that has not started a firing by then has crashed, or waits for a host that does not respond. */
const claimMs = 60_000;
/** After this many the firing fails. */
const maxAttempts = 5;
/** Of one transaction: after a long downtime there may be many. */
const maxInstants = 500;

export const firingsPart = (host: AutomationHost): Part => ({
  failure: "automations.not_started",
  dueAt: ({ firings }) => firings,
  work: () => startDueFirings(host),
});

const watchIntervalMs = 60_000;

/** On servers without the role scheduler: a dead scheduler cannot report itself. Those with it do the same as they look. */
export function startWatch(host: AutomationHost): Activity {
  const watch = () => raiseOverdueAlerts(host.platform.db, new Date(host.now().getTime() - graceMs));
  return repeat(host, { failure: "automations.not_watched", work: watch, intervalMs: watchIntervalMs });
}

/** A server that was restarted continues what it had begun; others wait until its claim has expired. */
export async function releaseOwnClaims({ platform: { db, nodeId } }: AutomationHost): Promise<void> {
  await db
    .updateTable("automation_firings")
    .set({ claimed_by: null, claimed_until: null })
    .where("status", "=", "planned")
    .where("claimed_by", "=", nodeId)
    .execute();
}

/** All that are due now. */
export const startDueFirings = (host: AutomationHost): Promise<void> =>
  inTurns(async (excluded) => {
    const step = await host.platform.db.transaction().execute((tx) => claimNext(host, tx, excluded));
    if (step === null) return null;
    const { id } = step.automation;
    if (!step.isDecided) await actingAs(`automation:${id}`, () => startClaimed(host, step));
    return id;
  });

interface Claimed {
  firing: FiringRow;
  automation: AutomationRow;
}

type ClaimedStep = Claimed & { isDecided: boolean };

async function startClaimed(host: AutomationHost, { firing, automation }: Claimed): Promise<void> {
  try {
    if (firing.attempts > maxAttempts)
      await failFiring(host, firing, `${maxAttempts} attempts ended without a run; the server's log has the reasons.`);
    else await startFiring(host, firing, automation);
  } catch (error) {
    // Stays planned: tried again when the claim has expired.
    const about = { automationId: automation.id, firingId: firing.id, attempt: firing.attempts };
    host.platform.log.error("automations.attempt_failed", error, about);
  }
}

/** As `automation_firings_next` has it: thousands that wait must not be read to find none that is due. */
const nextAttempt = sql<Date>`greatest(planned_at, claimed_until)`;

/** The earliest firing that is due: decided at once, or claimed by this server. The one after it is planned with it. */
async function claimNext(host: AutomationHost, tx: Queries, excluded: string[]): Promise<ClaimedStep | null> {
  const now = host.now();
  let due = tx
    .selectFrom("automation_firings")
    .selectAll()
    .where("status", "=", "planned")
    .where(nextAttempt, "<=", now);
  if (excluded.length > 0) due = due.where("automation_id", "not in", excluded);
  const firing = await due
    .orderBy(nextAttempt)
    .orderBy("planned_at")
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  if (!firing) return null;
  const automation = await tx
    .selectFrom("automations")
    .selectAll()
    .where("id", "=", firing.automation_id)
    .executeTakeFirstOrThrow();
  // A server that began to start it may have got as far as the run: only the first one decides otherwise.
  const isFirst = firing.attempts === 0 && firing.source === "schedule" && firing.backtest_id === null;
  if (isFirst && (await isDecided(tx, { firing, automation, now }))) return { firing, automation, isDecided: true };
  const claim = { claimed_by: host.platform.nodeId, claimed_until: new Date(now.getTime() + claimMs) };
  const attempts = firing.attempts + 1;
  await tx
    .updateTable("automation_firings")
    .set({ ...claim, attempts })
    .where("id", "=", firing.id)
    .execute();
  return { firing: { ...firing, attempts }, automation, isDecided: false };
}

interface Scheduled extends Claimed {
  now: Date;
}

/** Plans the next firing of the trigger, and decides those whose time has passed while no server ran. */
async function isDecided(tx: Queries, { firing, automation, now }: Scheduled): Promise<boolean> {
  const schedule = await scheduleOf(tx, firing.trigger_id);
  const triggerId = firing.trigger_id ?? "";
  const { missed } = automation;
  const passed: Date[] = [];
  let instant = firing.planned_at;
  let next = schedule?.nextAfter(instant) ?? null;
  while (next !== null && next <= now && passed.length < maxInstants) {
    passed.push(instant);
    [instant, next] = [next, schedule?.nextAfter(next) ?? null];
  }
  const following = passed.length > 0 ? instant : next;
  if (following !== null && automation.enabled)
    await insertOnce(tx, [firingValues(scheduledFiring(automation.id, triggerId, following))]);
  const verdict = judgeDue({ plannedAt: firing.planned_at, next: passed.length > 0 ? instant : next, now, missed });
  if (verdict.kind === "start") return false;
  const { kind: status, reason } = verdict;
  const decided = passed
    .slice(1)
    .map((at) => ({ ...firingValues(scheduledFiring(automation.id, triggerId, at)), status, reason, decided_at: now }));
  if (decided.length > 0) await insertOnce(tx, decided);
  await decideFiring(tx, firing.id, { status, reason });
  if (missed === "alert")
    await raiseAlert(tx, {
      automationId: automation.id,
      firingId: firing.id,
      kind: "missed",
      message: `Missed ${passed.length > 1 ? `${passed.length} firings, the first ` : "the firing "}planned for ${firing.planned_at.toISOString()}. ${reason}`,
    });
  return true;
}

const insertOnce = (tx: Queries, rows: Insertable<AutomationFiringTable>[]) =>
  tx
    .insertInto("automation_firings")
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(["automation_id", "dedupe_key"]).where("dedupe_key", "is not", null).doNothing(),
    )
    .execute();
