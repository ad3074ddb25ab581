// Sums up runs and model calls: in the database, and by what is sealed in agents after they were opened.
import type { Spending, SpendingDay, SpendingQuery } from "@agentcli/protocol/api";
import { sql } from "kysely";
import type { Principal } from "../foundation/index.ts";
import { namesOfActors } from "../identity/index.ts";
import { add, nothing, spentSince, sumBy } from "./amounts.ts";
import { describeAgents, type UsageHost } from "./described-agents.ts";
import { groupAgents, maxEntries } from "./group.ts";
import { readLimits } from "./limits.ts";

export async function readSpending(
  host: UsageHost,
  principal: Principal,
  { of, days }: SpendingQuery,
): Promise<Spending> {
  const { db } = host.platform;
  const since = startOf(days);
  const spent = spentSince(principal, of, since);
  const byDay = new Map(
    (await sumBy(db, spent, sql`to_char(at at time zone 'utc', 'YYYY-MM-DD')`)).map((row) => [row.id, row]),
  );
  const calendar = daysFrom(since, days).map((day): SpendingDay => ({ ...(byDay.get(day) ?? nothing), day }));
  const models = await sumBy(db, spent, sql`coalesce(model, 'unknown')`);
  const people = await sumBy(db, spent, sql`actor`);
  const agents = await sumBy(db, sql`${spent} and agent_id is not null`, sql`agent_id`);
  const others = await sumBy(db, sql`${spent} and agent_id is null`, sql`''`);
  const peopleNames = await namesOfActors(db, principal.teamId);
  const described = await describeAgents(host, principal, agents);
  return {
    of,
    since: since.toISOString(),
    total: add(calendar),
    days: calendar.map(({ day, runs, calls, tokens, costCents, unpriced }) => ({
      day,
      runs,
      calls,
      tokens,
      costCents,
      unpriced,
    })),
    models: models.map((row) => ({ ...row, name: row.id })),
    people: people.map((row) => ({ ...row, name: peopleNames.get(row.id) ?? "a user who no longer exists" })),
    agents: agents.slice(0, maxEntries).map((row) => ({ ...row, name: described.get(row.id)?.name ?? row.id })),
    ...groupAgents(agents, described, add(others)),
    limits: await readLimits(db, principal, of),
  };
}

const dayMs = 86_400_000;

/** Midnight in UTC, so many days ago that today is the last of them. */
const startOf = (days: number): Date => new Date(Math.floor(Date.now() / dayMs) * dayMs - (days - 1) * dayMs);

const daysFrom = (since: Date, days: number): string[] =>
  Array.from({ length: days }, (_, index) => new Date(since.getTime() + index * dayMs).toISOString().slice(0, 10));
