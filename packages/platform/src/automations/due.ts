// When automations have something to do next: one statement, each part of it by an index.
import { type Kysely, sql } from "kysely";
import type { Tables } from "../foundation/index.ts";
import { overdueAlerts } from "./alerts.ts";

/** Null: not before something changes. */
export interface Due {
  firings: Date | null;
  events: Date | null;
  mentions: Date | null;
  /** Of automatic fixes whose pull requests show another one. */
  fixStates: Date | null;
  backtests: Date | null;
  timers: Date | null;
  expiries: Date | null;
  /** The first event that waits for an agent. */
  wakeUps: Date | null;
}

/** Raises the alerts about firings that are overdue with it: a statement of its own would double what idle servers do. */
export async function readDue(db: Kysely<Tables>, overdueBefore: Date): Promise<Due> {
  const { rows } = await sql<Due>`
    with overdue as (${overdueAlerts(overdueBefore)})
    select
      (
        select greatest(planned_at, claimed_until) from automation_firings where status = 'planned'
        order by greatest(planned_at, claimed_until), planned_at limit 1
      ) as firings,
      (select min(created_at) from inbound_events where status = 'received') as events,
      (select min(retry_at) from mentions where status = 'planned') as mentions,
      (
        select min(created_at) from subscriptions
        where source = 'ci_fix' and shown_state is distinct from coalesce(ended_reason, status)
      ) as "fixStates",
      (select min(created_at) from automation_backtests where items is null) as backtests,
      (select min(next_at) from subscriptions where status = 'active' and next_at is not null) as timers,
      (select min(expires_at) from subscriptions where status = 'active') as expiries,
      (select min(created_at) from subscription_events where run_id is null) as "wakeUps"
  `.execute(db);
  const [due] = rows;
  if (!due) throw new Error("no row of what is due");
  return due;
}
