// Reads what waits for a decision of the user: draft builds, and automations in shadow mode. What anyone has decided is gone.
import { type InboxItem, maxInboxItems } from "@agentcli/protocol/api";
import { sql } from "kysely";
import { proposalsToDecide, proposedTools } from "../automations/index.ts";
import { draftsToDecide } from "../environments/index.ts";
import { deciderOf, type Queries } from "../foundation/index.ts";
import { isUnread, type UserPrincipal } from "./item.ts";

export async function readApprovals(db: Queries, user: UserPrincipal): Promise<InboxItem[]> {
  const drafts = await shownDrafts(db, user).execute();
  const proposals = await shownProposals(db, user).execute();
  return [
    ...drafts.map(
      ({ id, mark, name, environment_id, requester, completed }): InboxItem => ({
        ...{ id, kind: "approval", isUnread: isUnread(mark), title: name, environmentId: environment_id },
        message: `Draft ${id.slice(0, shownLength)}, requested by ${requester}`,
        at: completed.toISOString(),
      }),
    ),
    ...proposals.map(
      ({ id, mark, name, automation_id, tools, ended }): InboxItem => ({
        ...{ id, kind: "approval", isUnread: isUnread(mark), title: name, automationId: automation_id },
        message: `In shadow mode nothing is written. Proposed: ${tools.map(wordsOf).join(", ")}.`,
        at: ended.toISOString(),
      }),
    ),
  ];
}

/** Of the id of a build: as the pages of environments show it. */
const shownLength = 21;

const wordsOf = (tool: string): string => tool.replaceAll("_", " ");

export const shownDrafts = (db: Queries, user: UserPrincipal) =>
  draftsToDecide(db, deciderOf(user))
    .leftJoin("inbox_marks", (join) =>
      join.onRef("inbox_marks.build_id", "=", "environment_builds.id").on("inbox_marks.user_id", "=", user.userId),
    )
    .select([
      "environment_builds.id",
      "inbox_marks.state as mark",
      "environments.id as environment_id",
      "environments.name",
      sql<Date>`coalesce(environment_builds.completed_at, environment_builds.updated_at)`.as("completed"),
      sql<string>`coalesce(
        (select email from users where environment_builds.requested_by = 'user:' || users.id),
        (select name from service_accounts where environment_builds.requested_by = 'service_account:' || service_accounts.id),
        'a former member'
      )`.as("requester"),
    ])
    .where(sql<boolean>`inbox_marks.state is distinct from 'done'`)
    .orderBy("completed", "desc")
    .orderBy("environment_builds.id")
    .limit(maxInboxItems);

export const shownProposals = (db: Queries, user: UserPrincipal) =>
  proposalsToDecide(db, deciderOf(user))
    .innerJoin("runs", "runs.id", "automation_firings.run_id")
    .leftJoin("inbox_marks", (join) =>
      join.onRef("inbox_marks.firing_id", "=", "automation_firings.id").on("inbox_marks.user_id", "=", user.userId),
    )
    .select([
      "automation_firings.id",
      "inbox_marks.state as mark",
      "automations.id as automation_id",
      "automations.name",
      proposedTools.as("tools"),
      sql<Date>`coalesce(runs.ended_at, runs.updated_at)`.as("ended"),
    ])
    .where(sql<boolean>`inbox_marks.state is distinct from 'done'`)
    .orderBy("ended", "desc")
    .orderBy("automation_firings.id")
    .limit(maxInboxItems);
