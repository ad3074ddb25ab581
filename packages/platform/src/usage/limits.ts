// Limits of this month, and what counts towards them.
import type { Spending } from "@agentcli/protocol/api";
import { toCents } from "@agentcli/protocol/money";
import { type RawBuilder, sql } from "kysely";
import type { Principal, Queries } from "../foundation/index.ts";

/** A member sees their own limit; what the whole team has spent is for administrators. */
export async function readLimits(db: Queries, principal: Principal, of: "me" | "team"): Promise<Spending["limits"]> {
  const { teamId } = principal;
  if (of === "team")
    return limitOf(db, { of, owner: sql`teams where id = ${teamId}`, owned: sql`team_id = ${teamId}` });
  if (principal.kind !== "user") return [];
  const { userId } = principal;
  return limitOf(db, { of: "user", owner: sql`users where id = ${userId}`, owned: sql`user_id = ${userId}` });
}

interface Limited {
  of: "user" | "team";
  owner: RawBuilder<unknown>;
  /** Which runs and calls count. */
  owned: RawBuilder<unknown>;
}

async function limitOf(db: Queries, { of, owner, owned }: Limited): Promise<Spending["limits"]> {
  const thisMonth = sql`${owned} and created_at >= date_trunc('month', now())`;
  const { rows } = await sql<{ limit: number | null; spent: number }>`
    select spend_limit_usd::float8 as limit, (
      select coalesce(sum(cost_usd), 0)::float8 from (
        select cost_usd from runs where ${thisMonth}
        union all select cost_usd from deleted_runs where ${thisMonth}
        union all select cost_usd from inference_calls where ${thisMonth}
      ) as costs
    ) as spent from ${owner}
  `.execute(db);
  const [{ limit = null, spent = 0 } = {}] = rows;
  return limit === null ? [] : [{ of, limitCents: toCents(limit), spentCents: toCents(spent) }];
}
