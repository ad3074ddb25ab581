// Sums up runs and model calls, in the database.
import type { Spending, SpendingDay, SpendingEntry, SpendingQuery } from "@agentcli/protocol/api";
import { toCents } from "@agentcli/protocol/money";
import { type RawBuilder, sql } from "kysely";
import { type PlatformContext, type Principal, principalName, type Queries } from "../foundation/index.ts";
import { namesOfActors } from "../identity/index.ts";
import { agentNameAad } from "../runs/index.ts";
import { readLimits } from "./limits.ts";

export async function readSpending(
  { db, vault }: PlatformContext,
  principal: Principal,
  { of, days }: SpendingQuery,
): Promise<Spending> {
  const since = startOf(days);
  const spent = spentSince(principal, of, since);
  const byDay = new Map(
    (await sumBy(db, spent, sql`to_char(at at time zone 'utc', 'YYYY-MM-DD')`)).map((row) => [row.id, row]),
  );
  const calendar = daysFrom(since, days).map((day): SpendingDay => ({ ...(byDay.get(day) ?? nothing), day }));
  const models = await sumBy(db, spent, sql`coalesce(model, 'unknown')`);
  const people = await sumBy(db, spent, sql`actor`);
  const agents = (await sumBy(db, sql`${spent} and agent_id is not null`, sql`agent_id`)).slice(0, maxAgents);
  const peopleNames = await namesOfActors(db, principal.teamId);
  const agentNames = await namesOfAgents({ db, vault }, agents);
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
    agents: agents.map((row) => ({ ...row, name: agentNames.get(row.id) ?? row.id })),
    limits: await readLimits(db, principal, of),
  };
}

const maxAgents = 20;
const dayMs = 86_400_000;

type Amounts = Omit<SpendingEntry, "id" | "name">;
const nothing: Amounts = { runs: 0, calls: 0, tokens: 0, costCents: 0, unpriced: 0 };

/** Midnight in UTC, so many days ago that today is the last of them. */
const startOf = (days: number): Date => new Date(Math.floor(Date.now() / dayMs) * dayMs - (days - 1) * dayMs);

const daysFrom = (since: Date, days: number): string[] =>
  Array.from({ length: days }, (_, index) => new Date(since.getTime() + index * dayMs).toISOString().slice(0, 10));

/** A table expression with a condition, to which more may be added. */
function spentSince(principal: Principal, of: "me" | "team", since: Date): RawBuilder<unknown> {
  const owned = sql`coalesce('user:' || user_id, 'service_account:' || service_account_id, '')`;
  const tokens = sql`(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::float8`;
  const within = sql`team_id = ${principal.teamId} and created_at >= ${since}`;
  return sql`(
    select created_at as at, ${owned} as actor, model, agent_id, 1 as runs, 0 as calls, ${tokens} as tokens, cost_usd,
      (ended_at is not null and cost_usd is null)::int as unpriced
    from runs where ${within}
    union all
    select created_at, ${owned}, model, null, 0, 1, ${tokens}, cost_usd, (cost_usd is null)::int
    from inference_calls where ${within}
  ) as spent where ${of === "team" ? sql`true` : sql`actor = ${principalName(principal)}`}`;
}

type Row = Amounts & { id: string };

async function sumBy(db: Queries, spent: RawBuilder<unknown>, by: RawBuilder<unknown>): Promise<Row[]> {
  const { rows } = await sql<Omit<Row, "costCents"> & { usd: number }>`
    select ${by} as id, sum(runs)::int as runs, sum(calls)::int as calls, sum(tokens)::float8 as tokens,
      coalesce(sum(cost_usd), 0)::float8 as usd, sum(unpriced)::int as unpriced
    from ${spent} group by 1 order by usd desc, tokens desc, 1
  `.execute(db);
  return rows.map(({ usd, ...row }) => ({ ...row, costCents: toCents(usd) }));
}

const add = (rows: Amounts[]): Amounts =>
  rows.reduce(
    (sum, { runs, calls, tokens, costCents, unpriced }) => ({
      runs: sum.runs + runs,
      calls: sum.calls + calls,
      tokens: sum.tokens + tokens,
      costCents: sum.costCents + costCents,
      unpriced: sum.unpriced + unpriced,
    }),
    nothing,
  );

async function namesOfAgents({ db, vault }: Pick<PlatformContext, "db" | "vault">, rows: Row[]) {
  if (rows.length === 0) return new Map<string, string>();
  const agents = await db
    .selectFrom("agents")
    .select(["id", "name", "data_key"])
    .where(
      "id",
      "in",
      rows.map(({ id }) => id),
    )
    .execute();
  const names = agents.map(async ({ id, name, data_key }) => {
    const key = await vault.unwrap(data_key);
    return [id, key.openText(name, agentNameAad(id))] as const;
  });
  return new Map(await Promise.all(names));
}
