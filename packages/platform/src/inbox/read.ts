// Reads what needs a user: the last ended run of each of their agents, alerts of automations that they look after, and what
// waits for their decision.
import { type Inbox, type InboxItem, maxInboxItems } from "@agentcli/protocol/api";
import { sql } from "kysely";
import { describeAgents, type OverviewHost } from "../agents/index.ts";
import { isProposingRun } from "../automations/index.ts";
import type { Queries } from "../foundation/index.ts";
import { resultAad } from "../runs/index.ts";
import { readApprovals } from "./approvals.ts";
import { isUnread, type UserPrincipal } from "./item.ts";

export async function readInbox(host: OverviewHost, user: UserPrincipal): Promise<Inbox> {
  const runs = await readRunItems(host, user);
  const alerts = await readAlertItems(host.platform.db, user);
  const approvals = await readApprovals(host.platform.db, user);
  const items = [...runs, ...alerts, ...approvals]
    .sort((left, right) => right.at.localeCompare(left.at))
    .slice(0, maxInboxItems);
  return { items, unread: items.filter(({ isUnread }) => isUnread).length };
}

async function readRunItems(host: OverviewHost, user: UserPrincipal): Promise<InboxItem[]> {
  const { db, vault } = host.platform;
  const rows = await selectRuns(db, user);
  const agents = await describeAgents(
    host,
    user,
    rows.map((row) => ({ ...row, busy: false })),
  );
  return Promise.all(
    rows.map(async (row, index): Promise<InboxItem> => {
      const agent = agents[index];
      const { run_id, result, ended } = row;
      const key = await vault.unwrap(row.data_key);
      const text = result === null ? "" : beginningOf(key.openText(result, resultAad(run_id)));
      const isResult = row.run_status === "FINISHED";
      const failure = agent?.latestRun?.error?.message ?? "";
      return {
        id: run_id,
        kind: isResult ? "result" : "failed_run",
        isUnread: isUnread(row.mark),
        title: agent?.name ?? row.id,
        message: isResult ? text : failure,
        at: ended.toISOString(),
        ...(agent && { agent }),
      };
    }),
  );
}

const selectRuns = (db: Queries, user: UserPrincipal) =>
  endedRuns(db, user).selectAll("agents").select(["runs.status as run_status", "runs.result"]).execute();

/** Those of programs are theirs to read; archived ones are put away; what one proposed is a decision about its automation. */
export const endedRuns = (db: Queries, { teamId, userId }: UserPrincipal) =>
  db
    .selectFrom("agents")
    .innerJoin("runs", "runs.id", "agents.latest_run_id")
    .leftJoin("inbox_marks", (join) =>
      join.onRef("inbox_marks.run_id", "=", "runs.id").on("inbox_marks.user_id", "=", userId),
    )
    .select([
      "runs.id as run_id",
      "inbox_marks.state as mark",
      sql<Date>`coalesce(runs.ended_at, runs.updated_at)`.as("ended"),
    ])
    .where("agents.team_id", "=", teamId)
    .where("agents.user_id", "=", userId)
    .where("agents.archived_at", "is", null)
    .where("agents.source", "!=", "SDK")
    .where(sql<boolean>`(agents.settings->>'effects' is distinct from 'shadow' or not ${isProposingRun})`)
    .where("runs.status", "in", ["FINISHED", "ERROR", "EXPIRED"])
    .where(sql<boolean>`inbox_marks.state is distinct from 'done'`)
    .orderBy("ended", "desc")
    .orderBy("runs.id")
    .limit(maxInboxItems);

async function readAlertItems(db: Queries, user: UserPrincipal): Promise<InboxItem[]> {
  const rows = await shownAlerts(db, user)
    .select([
      "automation_alerts.message",
      "automation_alerts.created_at",
      "automations.id as automation_id",
      "automations.name",
    ])
    .execute();
  return rows.map(({ id, name, message, created_at, automation_id, mark }) => ({
    id,
    kind: "automation",
    isUnread: isUnread(mark),
    title: name,
    message,
    at: created_at.toISOString(),
    automationId: automation_id,
  }));
}

export const shownAlerts = (db: Queries, user: UserPrincipal) =>
  alertsFor(db, user)
    .leftJoin("inbox_marks", (join) =>
      join.onRef("inbox_marks.alert_id", "=", "automation_alerts.id").on("inbox_marks.user_id", "=", user.userId),
    )
    .select(["automation_alerts.id", "inbox_marks.state as mark"])
    .where(sql<boolean>`inbox_marks.state is distinct from 'done'`)
    .orderBy("automation_alerts.created_at", "desc")
    .orderBy("automation_alerts.id")
    .limit(maxInboxItems);

/** A failed run of an agent of the user is in the inbox already. Administrators look after those of the team. */
export const alertsFor = (db: Queries, { teamId, userId, role }: UserPrincipal) =>
  db
    .selectFrom("automation_alerts")
    .innerJoin("automations", "automations.id", "automation_alerts.automation_id")
    .where("automations.team_id", "=", teamId)
    .where((where) =>
      where.or([
        where.and([where("automations.user_id", "=", userId), where("automation_alerts.kind", "!=", "run_failed")]),
        ...(role === "admin" ? [where("automations.scope", "=", "team_owned")] : []),
      ]),
    );

const maxMessage = 300;

const beginningOf = (text: string): string => text.trim().slice(0, maxMessage);
