// Marks items of a user's inbox. All of them are marked, or none.
import type { ChangeInbox, InboxState } from "@agentcli/protocol/api";
import type { Kysely } from "kysely";
import { firingsOf } from "../automations/index.ts";
import { buildsOf } from "../environments/index.ts";
import { ApiError, deciderOf, type Queries, type Tables } from "../foundation/index.ts";
import type { UserPrincipal } from "./item.ts";
import { alertsFor } from "./read.ts";

export async function markItems(db: Kysely<Tables>, user: UserPrincipal, { items, state }: ChangeInbox): Promise<void> {
  const marked: { column: ItemColumn; id: string }[] = [];
  for (const column of itemColumns)
    for (const { id } of await find[column](db, user, items)) marked.push({ column, id });
  const missing = items.find((item) => !marked.some(({ id }) => id === item));
  if (missing !== undefined)
    throw new ApiError("not_found", `There is no item ${missing} in your inbox. List them: GET /v1/me/inbox`);
  const mark = { user_id: user.userId, state, updated_at: new Date() };
  await db.transaction().execute(async (tx) => {
    for (const { column, id } of marked) await setMark(tx, { ...mark, [column]: id }, column);
  });
}

/** Of which table the item is. */
const itemColumns = ["run_id", "alert_id", "build_id", "firing_id"] as const;
type ItemColumn = (typeof itemColumns)[number];

interface Mark {
  user_id: number;
  state: InboxState;
  updated_at: Date;
}

const setMark = (tx: Queries, mark: Mark, column: ItemColumn) =>
  tx
    .insertInto("inbox_marks")
    .values(mark)
    .onConflict((conflict) =>
      conflict.columns(["user_id", column]).doUpdateSet({ state: mark.state, updated_at: mark.updated_at }),
    )
    .execute();

/** Also what is decided: a page marks what it shows, and another person may have decided since. */
const find: Record<ItemColumn, (db: Queries, user: UserPrincipal, ids: string[]) => Promise<{ id: string }[]>> = {
  run_id: (db, { teamId, userId }, ids) =>
    db
      .selectFrom("runs")
      .innerJoin("agents", "agents.id", "runs.agent_id")
      .select("runs.id")
      .where("runs.id", "in", ids)
      .where("agents.team_id", "=", teamId)
      .where("agents.user_id", "=", userId)
      .execute(),
  alert_id: (db, user, ids) =>
    alertsFor(db, user).select("automation_alerts.id").where("automation_alerts.id", "in", ids).execute(),
  build_id: (db, user, ids) =>
    buildsOf(db, deciderOf(user)).select("environment_builds.id").where("environment_builds.id", "in", ids).execute(),
  firing_id: (db, user, ids) =>
    firingsOf(db, deciderOf(user)).select("automation_firings.id").where("automation_firings.id", "in", ids).execute(),
};
