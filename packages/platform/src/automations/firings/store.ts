// Records of firings: planned ahead, decided once.
import { randomUUID } from "node:crypto";
import type { FiringStatus } from "@agentcli/protocol/api";
import { type RawBuilder, type Selectable, sql } from "kysely";
import type { AutomationFiringTable, Position, Queries, RunStatus } from "../../foundation/index.ts";
import { readSchedule, type Schedule } from "../schedule.ts";

export type FiringRow = Selectable<AutomationFiringTable>;

export interface NewFiring {
  automationId: string;
  source: FiringRow["source"];
  triggerId: string | null;
  plannedAt: Date;
  /** Null: it is never the same as another one. */
  dedupeKey: string | null;
}

export function firingValues(firing: NewFiring) {
  return {
    id: `fire-${randomUUID()}`,
    automation_id: firing.automationId,
    source: firing.source,
    trigger_id: firing.triggerId,
    status: "planned" as const,
    planned_at: firing.plannedAt,
    dedupe_key: firing.dedupeKey,
    agent_id: `bc-${randomUUID()}`,
    created_at: new Date(),
  };
}

/** Of one trigger at one instant there is one record, however often it is planned. */
export const scheduledFiring = (automationId: string, triggerId: string, plannedAt: Date): NewFiring => ({
  automationId,
  source: "schedule",
  triggerId,
  plannedAt,
  dedupeKey: `${triggerId} ${plannedAt.toISOString()}`,
});

/** The schedule of a trigger; null where the trigger is gone, or is none. */
export async function scheduleOf(db: Queries, triggerId: string | null): Promise<Schedule | null> {
  if (triggerId === null) return null;
  const row = await db
    .selectFrom("automation_triggers")
    .select(["cron", "timezone"])
    .where("id", "=", triggerId)
    .executeTakeFirst();
  if (row?.cron == null || row.timezone === null) return null;
  const read = readSchedule(row.cron, row.timezone);
  // Checked when it was stored; the time zone data of this program may be others.
  return read.kind === "valid" ? read.schedule : null;
}

/** The next firing of every schedule of the automation has a record, unless one is planned already. */
export async function planFirings(tx: Queries, automationId: string, now: Date): Promise<void> {
  const triggers = await tx
    .selectFrom("automation_triggers")
    .select("id")
    .where("automation_id", "=", automationId)
    .where("type", "=", "cron")
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("automation_firings")
            .select("automation_firings.id")
            .whereRef("automation_firings.trigger_id", "=", "automation_triggers.id")
            .where("automation_firings.automation_id", "=", automationId)
            .where("automation_firings.status", "=", "planned"),
        ),
      ),
    )
    .execute();
  for (const { id } of triggers) {
    const next = (await scheduleOf(tx, id))?.nextAfter(now) ?? null;
    if (next === null) continue;
    await insertPlanned(tx, scheduledFiring(automationId, id, next));
  }
}

/** A record that was skipped while the automation was disabled is planned again. */
async function insertPlanned(tx: Queries, firing: NewFiring): Promise<void> {
  await tx
    .insertInto("automation_firings")
    .values(firingValues(firing))
    .onConflict((conflict) =>
      conflict
        .columns(["automation_id", "dedupe_key"])
        .where("dedupe_key", "is not", null)
        .doUpdateSet({ status: "planned", reason: null, decided_at: null })
        .where("automation_firings.status", "=", "skipped")
        .where("automation_firings.run_id", "is", null),
    )
    .execute();
}

/** Those that are planned and will not start, such as those of a disabled automation. */
export async function skipPlanned(
  tx: Queries,
  { automationId, reason, keep = [] }: { automationId: string; reason: string; keep?: string[] },
): Promise<void> {
  let query = tx
    .updateTable("automation_firings")
    .set({ status: "skipped", reason, decided_at: new Date() })
    .where("automation_id", "=", automationId)
    .where("status", "=", "planned");
  if (keep.length > 0)
    query = query.where(({ or, eb }) => or([eb("trigger_id", "is", null), eb("trigger_id", "not in", keep)]));
  await query.execute();
}

export type Decision =
  | { status: "started"; runId: string }
  | { status: "skipped" | "missed" | "failed"; reason: string };

/** Once: what was decided stays. Only a run needs the event. */
export async function decideFiring(db: Queries, id: string, decision: Decision): Promise<FiringRow> {
  const { status, ...rest } = decision;
  await db
    .updateTable("automation_firings")
    .set({
      status,
      decided_at: new Date(),
      claimed_by: null,
      claimed_until: null,
      ...("runId" in rest ? { run_id: rest.runId, reason: null } : { reason: rest.reason, payload: null }),
    })
    .where("id", "=", id)
    .where("status", "=", "planned")
    .execute();
  return db.selectFrom("automation_firings").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
}

export interface FiringFilter {
  limit: number;
  after: Position | null;
  status?: FiringStatus | undefined;
}

/** By planned time, latest first; one more than the limit where there is a next page. */
export function listFirings(
  db: Queries,
  automationId: string,
  { limit, after, status }: FiringFilter,
): Promise<FiringRow[]> {
  let query = db
    .selectFrom("automation_firings")
    .selectAll()
    .where("automation_id", "=", automationId)
    .where("backtest_id", "is", null)
    .orderBy("planned_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1);
  if (status) query = query.where("status", "=", status);
  if (after) query = query.where(sql<boolean>`(planned_at, id) < (${after.createdAt}, ${after.id})`);
  return query.execute();
}

/**
 * Part of the statement that ends a run (`fence`): the outcome of the first run of an agent is that of its firing, not that
 * of a run of another team, which may have an agent of that id since.
 */
export const recordOutcome = (status: RunStatus): RawBuilder<unknown> => sql`
  update automation_firings set run_status = ${status}
  from fence join automations on automations.team_id = fence.team_id
  where automation_id = automations.id and automation_firings.agent_id = fence.agent_id and run_status is null
`;
