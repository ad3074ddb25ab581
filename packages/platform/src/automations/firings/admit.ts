// Lets a firing start by the limits of its automation. Decided once: what was admitted stays so after a crash.
import type { AutomationLimits } from "@agentcli/protocol/api";
import { sql } from "kysely";
import type { Queries } from "../../foundation/index.ts";
import { requestCancel } from "../../runs/index.ts";
import { raiseAlert } from "../alerts.ts";
import type { AutomationHost } from "../host.ts";
import { lockAutomation } from "../store.ts";
import { type Admission, judgeLimits, type Use } from "./limits.ts";
import { decideFiring, type FiringRow } from "./store.ts";

/** So long firings of an automation wait before the limits are asked again. */
const waitMs = 5_000;

export type Admitted = { kind: "admitted"; budgetUsd: number | undefined } | { kind: "decided"; firing: FiringRow };

/** One firing of an automation after another, on whatever server. */
export async function admit(host: AutomationHost, firing: FiringRow, limits: AutomationLimits): Promise<Admitted> {
  const { whenBusy: _, ...given } = limits;
  if (Object.keys(given).length === 0) return { kind: "admitted", budgetUsd: undefined };
  return host.platform.db.transaction().execute(async (tx) => {
    await lockAutomation(tx, firing.automation_id);
    const current = await findFiring(tx, firing.id);
    if (current.status !== "planned") return { kind: "decided", firing: current };
    if (current.admitted_at !== null) return { kind: "admitted", budgetUsd: optional(current.reserved_usd) };
    const now = host.now();
    const admission = judgeLimits(
      firing.backtest_id === null ? limits : limitsOfReplay(limits),
      await readUse(tx, { automationId: firing.automation_id, except: firing.id, now }),
    );
    if (admission.kind !== "admitted") return { kind: "decided", firing: await hold(tx, { firing, admission, now }) };
    if (admission.replaced > 0) {
      const reason = `Its run was cancelled: the firing ${firing.id} replaced it.`;
      await cancelRuns(tx, { automationId: firing.automation_id, count: admission.replaced, reason });
    }
    const reserved_usd = admission.budgetUsd === null ? null : String(admission.budgetUsd);
    await tx
      .updateTable("automation_firings")
      .set({ admitted_at: now, reserved_usd })
      .where("id", "=", firing.id)
      .execute();
    return { kind: "admitted", budgetUsd: admission.budgetUsd ?? undefined };
  });
}

/** What it costs counts; what is started or replaced for real does not suffer from it. */
const limitsOfReplay = ({ startsPerHour: _, ...limits }: AutomationLimits): AutomationLimits => ({
  ...limits,
  whenBusy: "queue",
});

export const optional = (usd: string | null): number | undefined => (usd === null ? undefined : Number(usd));

export const findFiring = (tx: Queries, id: string): Promise<FiringRow> =>
  tx.selectFrom("automation_firings").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

const isActive = sql`runs.status in ('CREATING', 'RUNNING') and runs.cancel_requested_at is null`;
/** Firings outlive their agents, whose ids are free again then: another team may have one of that id. */
const isOfFiring = sql`runs.agent_id = firings.agent_id
  and runs.team_id = (select team_id from automations where automations.id = firings.automation_id)`;
const activeRuns = sql`select runs.id from runs where ${isOfFiring} and ${isActive}`;
/** Runs of wake-ups count by themselves: their agent may be older than a day. */
const isNoWakeUp = sql`not exists (select from wake_ups where wake_ups.id = runs.request_id)`;

export interface UseRequest {
  automationId: string;
  /** A firing or a wake-up, which does not count itself. */
  except: string;
  now: Date;
}

/** What the others of the automation use: firings with the follow-ups of people, and wake-ups. */
export async function readUse(tx: Queries, { automationId, except, now }: UseRequest): Promise<Use> {
  const { rows } = await sql<Record<keyof Use, string>>`
    select
      count(*) filter (where admitted and (is_active or status = 'planned')) as active,
      count(*) filter (where status = 'planned' and not admitted and planned_at <= ${now}) as waiting,
      count(*) filter (where started_at > ${now}::timestamptz - interval '1 hour' and is_live) as starts,
      coalesce(sum(case when is_active or status = 'planned' then greatest(reserved_usd, cost) else cost end)
        filter (where (started_at at time zone 'utc')::date = (${now}::timestamptz at time zone 'utc')::date), 0) as "usdToday"
    from (
      select status, planned_at, reserved_usd, coalesce(admitted_at, decided_at) as started_at,
        admitted_at is not null or run_id is not null as admitted, backtest_id is null as is_live,
        exists (${activeRuns} and ${isNoWakeUp}) as is_active,
        coalesce((
          select sum(cost_usd) from runs where ${isOfFiring} and ${isNoWakeUp}
        ), 0) as cost
      from automation_firings as firings
      where automation_id = ${automationId} and id <> ${except} and (
        status = 'planned' or (status = 'started' and run_status is null)
        or coalesce(admitted_at, decided_at) > ${now}::timestamptz - interval '1 day' and run_id is not null)
      union all
      select case when runs.id is null then 'planned' else 'started' end, wake_ups.created_at, reserved_usd,
        admitted_at, true, true, coalesce(${isActive}, false), coalesce(runs.cost_usd, 0)
      from wake_ups left join runs on runs.agent_id = wake_ups.agent_id and runs.request_id = wake_ups.id
      where automation_id = ${automationId} and wake_ups.id <> ${except}
        and admitted_at > ${now}::timestamptz - interval '1 day'
    ) as others
  `.execute(tx);
  const { active, waiting, starts, usdToday } = rows[0] ?? { active: 0, waiting: 0, starts: 0, usdToday: 0 };
  return { active: Number(active), waiting: Number(waiting), starts: Number(starts), usdToday: Number(usdToday) };
}

interface Held {
  firing: FiringRow;
  admission: Exclude<Admission, { kind: "admitted" }>;
  now: Date;
}

async function hold(tx: Queries, { firing, admission, now }: Held): Promise<FiringRow> {
  const { reason } = admission;
  if (admission.kind === "refused") {
    const alert = { automationId: firing.automation_id, firingId: firing.id, kind: "limit_reached" } as const;
    if (admission.isAlert && firing.backtest_id === null)
      await raiseAlert(tx, { ...alert, message: `Skipped. ${reason}` });
    return decideFiring(tx, firing.id, { status: "skipped", reason });
  }
  // The first attempt stays the first one, however often it has waited.
  const claim = { claimed_by: null, claimed_until: await postponeWaiting(tx, firing, now), attempts: 1 };
  await tx
    .updateTable("automation_firings")
    .set({ ...claim, reason })
    .where("id", "=", firing.id)
    .execute();
  return findFiring(tx, firing.id);
}

/** All that wait have one time for the next attempt, the oldest first: while that one waits, the others need not ask. */
async function postponeWaiting(tx: Queries, { id, automation_id }: FiringRow, now: Date): Promise<Date> {
  const { next } = await tx
    .selectFrom("automation_firings")
    .select(({ fn }) => fn.min("claimed_until").as("next"))
    .where("automation_id", "=", automation_id)
    .where("status", "=", "planned")
    .where("claimed_by", "is", null)
    .where("claimed_until", ">", now)
    .executeTakeFirstOrThrow();
  const until = next ?? new Date(now.getTime() + waitMs);
  await tx
    .updateTable("automation_firings")
    .set({ claimed_until: until })
    .where("automation_id", "=", automation_id)
    .where("id", "<>", id)
    .where("status", "=", "planned")
    .where("admitted_at", "is", null)
    .where("claimed_by", "is", null)
    .where("claimed_until", "<=", now)
    .execute();
  return until;
}

interface Ending {
  automationId: string;
  /** The oldest ones; null: all. */
  count: number | null;
  reason: string;
}

/** The runs end as cancelled, and their firings say why. */
export async function cancelRuns(tx: Queries, { automationId, count, reason }: Ending): Promise<void> {
  const { rows } = await sql<{ id: string; runId: string }>`
    select firings.id, active.id as "runId" from (
      select id, agent_id, automation_id, planned_at from automation_firings
      union all select firing_id, agent_id, automation_id, planned_at from automation_agents
    ) as firings
    cross join lateral (${activeRuns}) as active
    where firings.automation_id = ${automationId}
    order by firings.planned_at, firings.id limit ${count}
  `.execute(tx);
  for (const { id, runId } of rows) {
    await requestCancel(tx, runId);
    await tx.updateTable("automation_firings").set({ reason }).where("id", "=", id).execute();
  }
}

export const cancelRunsOf = (tx: Queries, automationId: string): Promise<void> =>
  cancelRuns(tx, { automationId, count: null, reason: "Its run was cancelled when the automation was disabled." });
