// Shows the state of the automatic fix on its pull request, as a comment for each change. Once: a comment that the host does
// not take is not repeated.
import { sql } from "kysely";
import { ApiError, teamKey } from "../../foundation/index.ts";
import { RepositoryFault } from "../../repositories/index.ts";
import type { AutomationHost } from "../host.ts";
import { openFilter, type SubscriptionRow } from "../subscriptions/store.ts";
import type { Part } from "../work.ts";
import { ofEndedPull } from "./ci-fix.ts";
import { maxFixes } from "./judge-fix.ts";

const batchSize = 50;
const timeoutMs = 20_000;

export const fixStatesPart = (host: AutomationHost): Part => ({
  failure: "automations.fix_states_not_shown",
  dueAt: ({ fixStates }) => fixStates,
  work: () => showFixStates(host),
});

export async function showFixStates(host: AutomationHost): Promise<void> {
  const rows = await host.platform.db
    .selectFrom("subscriptions")
    .selectAll()
    .where("source", "=", "ci_fix")
    .where(sql<boolean>`shown_state is distinct from coalesce(ended_reason, status)`)
    .orderBy("created_at")
    .limit(batchSize)
    .execute();
  for (const row of rows) if (await claim(host, row)) await show(host, row);
}

const stateOf = ({ ended_reason, status }: SubscriptionRow): string => ended_reason ?? status;

/** Of several servers one shows it. */
async function claim({ platform: { db } }: AutomationHost, row: SubscriptionRow): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("subscriptions")
    .set({ shown_state: stateOf(row) })
    .where("id", "=", row.id)
    .where(sql<boolean>`shown_state is not distinct from ${row.shown_state}`)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function show(host: AutomationHost, row: SubscriptionRow): Promise<void> {
  const { db, vault, log } = host.platform;
  const filter = openFilter(await teamKey(db, vault, row.team_id), row);
  // That a pull request has ended, it shows itself.
  if (filter.source !== "ci_fix" || ofEndedPull.includes(stateOf(row))) return;
  const comment = { author: "platform", body: describe(host, row) };
  try {
    const { pullRequests } = await host.sources.open(row.team_id, filter.repoUrl);
    await pullRequests?.comment(filter.pullRequest, comment, AbortSignal.timeout(timeoutMs));
  } catch (error) {
    if (!(error instanceof RepositoryFault) && !(error instanceof ApiError)) throw error;
    log.warn("automations.fix_state_not_shown", { error: error.message });
  }
}

function describe({ platform: { publicUrl, settings } }: AutomationHost, row: SubscriptionRow): string {
  const turn = (word: string) => `A comment with the line \`@${settings.botName} autofix ${word}\` turns it ${word}.`;
  if (row.status !== "active")
    return `Automatic fix of failed checks: off. ${row.ended_reason ?? "It has ended."} ${turn("on")}`;
  const agent = `${publicUrl()}/agents/${row.agent_id}`;
  return `Automatic fix of failed checks: on. A failed check wakes ${agent}, ${maxFixes} times at most. ${turn("off")}`;
}
