// Amounts of runs and model calls: as the database sums them up, and added to each other.
import type { SpendingEntry } from "@agentcli/protocol/api";
import { toCents } from "@agentcli/protocol/money";
import { type RawBuilder, sql } from "kysely";
import { type Principal, principalName, type Queries } from "../foundation/index.ts";

export type Amounts = Omit<SpendingEntry, "id" | "name">;
export type Row = Amounts & { id: string };

/** A table expression with a condition, to which more may be added. */
export function spentSince(principal: Principal, of: "me" | "team", since: Date): RawBuilder<unknown> {
  const owned = sql`coalesce('user:' || user_id, 'service_account:' || service_account_id, '')`;
  const tokens = sql`(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::float8`;
  const within = sql`team_id = ${principal.teamId} and created_at >= ${since}`;
  return sql`(
    select created_at as at, ${owned} as actor, model, agent_id, 1 as runs, 0 as calls, ${tokens} as tokens, cost_usd,
      (ended_at is not null and cost_usd is null)::int as unpriced
    from runs where ${within}
    union all
    select created_at, ${owned}, model, null, 1, 0, ${tokens}, cost_usd, (cost_usd is null)::int
    from deleted_runs where ${within}
    union all
    select created_at, ${owned}, model, null, 0, 1, ${tokens}, cost_usd, (cost_usd is null)::int
    from inference_calls where ${within}
  ) as spent where ${of === "team" ? sql`true` : sql`actor = ${principalName(principal)}`}`;
}

/** The highest cost first. */
export async function sumBy(db: Queries, spent: RawBuilder<unknown>, by: RawBuilder<unknown>): Promise<Row[]> {
  const { rows } = await sql<Omit<Row, "costCents"> & { usd: number }>`
    select ${by} as id, sum(runs)::int as runs, sum(calls)::int as calls, sum(tokens)::float8 as tokens,
      coalesce(sum(cost_usd), 0)::float8 as usd, sum(unpriced)::int as unpriced
    from ${spent} group by 1 order by usd desc, tokens desc, 1
  `.execute(db);
  return rows.map(({ usd, ...row }) => ({ ...row, costCents: toCents(usd) }));
}

export const nothing: Amounts = { runs: 0, calls: 0, tokens: 0, costCents: 0, unpriced: 0 };

export const add = (rows: Amounts[]): Amounts =>
  rows.reduce(
    (sum, { runs, calls, tokens, costCents, unpriced }) => ({
      runs: sum.runs + runs,
      calls: sum.calls + calls,
      tokens: sum.tokens + tokens,
      // Sums of binary fractions end in meaningless digits.
      costCents: toCents((sum.costCents + costCents) / 100),
      unpriced: sum.unpriced + unpriced,
    }),
    nothing,
  );

export const byCost = (one: Row, other: Row): number =>
  other.costCents - one.costCents || other.tokens - one.tokens || (one.id < other.id ? -1 : 1);
