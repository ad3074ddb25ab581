// Alerts: what an owner has to know about firings that did not lead to a good run. One for each firing and kind.
import { randomUUID } from "node:crypto";
import { outcomeWords } from "@agentcli/protocol/api";
import { type RawBuilder, type Selectable, sql } from "kysely";
import type { AutomationAlertTable, Position, Queries, RunStatus } from "../foundation/index.ts";

export type AlertRow = Selectable<AutomationAlertTable>;

export interface NewAlert {
  automationId: string;
  firingId: string | null;
  kind: AlertRow["kind"];
  message: string;
}

export async function raiseAlert(db: Queries, { automationId, firingId, kind, message }: NewAlert): Promise<void> {
  await db
    .insertInto("automation_alerts")
    .values({
      id: `alert-${randomUUID()}`,
      automation_id: automationId,
      firing_id: firingId,
      kind,
      message,
      created_at: new Date(),
    })
    .onConflict((conflict) => conflict.columns(["firing_id", "kind"]).where("firing_id", "is not", null).doNothing())
    .execute();
}

/** Newest first; one more than the limit where there is a next page. */
export function listAlerts(
  db: Queries,
  automationId: string,
  { limit, after }: { limit: number; after: Position | null },
): Promise<AlertRow[]> {
  let query = db
    .selectFrom("automation_alerts")
    .selectAll()
    .where("automation_id", "=", automationId)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1);
  if (after) query = query.where(sql<boolean>`(created_at, id) < (${after.createdAt}, ${after.id})`);
  return query.execute();
}

/** Firings that nothing has started long after their time; those that wait for their turn have a reason. Any server raises them, not only one that starts firings. */
export async function raiseOverdueAlerts(db: Queries, limit: Date): Promise<void> {
  await overdueAlerts(limit).execute(db);
}

export const overdueAlerts = (limit: Date): RawBuilder<unknown> => sql`
    insert into automation_alerts (id, automation_id, firing_id, kind, message, created_at)
    select 'alert-' || gen_random_uuid(), automation_id, id, 'overdue',
      'Planned for ' || to_char(planned_at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS') ||
      ' UTC, and no run has started. Look at the servers with the role scheduler: platform doctor',
      date_trunc('milliseconds', now())
    from automation_firings where status = 'planned' and planned_at < ${limit} and reason is null and backtest_id is null
    on conflict (firing_id, kind) where firing_id is not null do nothing
  `;

/** Part of the statement that ends a run (`fence`), beside the one that records the outcome. */
export const raiseRunAlert = (status: RunStatus, endedAt: Date): RawBuilder<unknown> => sql`
  insert into automation_alerts (id, automation_id, firing_id, kind, message, created_at)
  select 'alert-' || gen_random_uuid(), automation_id, automation_firings.id, 'run_failed',
    'Run ' || fence.id || ' has ' || ${outcomeWords[status].toLowerCase()}::text || '.', ${endedAt}::timestamptz
  from automation_firings join fence on automation_firings.agent_id = fence.agent_id
  join automations on automations.id = automation_id and automations.team_id = fence.team_id
  where run_status is null and backtest_id is null and ${status === "ERROR" || status === "EXPIRED"}
  on conflict (firing_id, kind) where firing_id is not null do nothing
`;
