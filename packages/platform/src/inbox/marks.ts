// Marks items of a user's inbox. All of them are marked, or none.
import type { ChangeInbox, InboxState } from "@agentcli/protocol/api";
import type { Kysely } from "kysely";
import { ApiError, type Queries, type Tables } from "../foundation/index.ts";
import { alertsFor, type UserPrincipal } from "./read.ts";

export async function markItems(db: Kysely<Tables>, user: UserPrincipal, { items, state }: ChangeInbox): Promise<void> {
  const runs = await ownRuns(db, user, items);
  const alerts = await ownAlerts(db, user, items);
  const missing = items.find((id) => !runs.includes(id) && !alerts.includes(id));
  if (missing !== undefined)
    throw new ApiError("not_found", `There is no item ${missing} in your inbox. List them: GET /v1/me/inbox`);
  const marked = { user_id: user.userId, state, updated_at: new Date() };
  await db.transaction().execute(async (tx) => {
    for (const run_id of runs) await setMark(tx, { ...marked, run_id, alert_id: null }, ["user_id", "run_id"]);
    for (const alert_id of alerts) await setMark(tx, { ...marked, run_id: null, alert_id }, ["user_id", "alert_id"]);
  });
}

interface Mark {
  user_id: number;
  run_id: string | null;
  alert_id: string | null;
  state: InboxState;
  updated_at: Date;
}

const setMark = (tx: Queries, mark: Mark, columns: ("user_id" | "run_id" | "alert_id")[]) =>
  tx
    .insertInto("inbox_marks")
    .values(mark)
    .onConflict((conflict) => conflict.columns(columns).doUpdateSet({ state: mark.state, updated_at: mark.updated_at }))
    .execute();

async function ownRuns(db: Queries, { teamId, userId }: UserPrincipal, ids: string[]): Promise<string[]> {
  const rows = await db
    .selectFrom("runs")
    .innerJoin("agents", "agents.id", "runs.agent_id")
    .select("runs.id")
    .where("runs.id", "in", ids)
    .where("agents.team_id", "=", teamId)
    .where("agents.user_id", "=", userId)
    .execute();
  return rows.map(({ id }) => id);
}

async function ownAlerts(db: Queries, user: UserPrincipal, ids: string[]): Promise<string[]> {
  const rows = await alertsFor(db, user)
    .select("automation_alerts.id")
    .where("automation_alerts.id", "in", ids)
    .execute();
  return rows.map(({ id }) => id);
}
