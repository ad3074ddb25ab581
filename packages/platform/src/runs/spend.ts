// What a run may spend: the server's budget, and what user and team have left of this month.
import { durationMs } from "@agentcli/project";
import type { Budget } from "@agentcli/protocol";
import { type Kysely, sql } from "kysely";
import type { Settings } from "../config/index.ts";
import type { Tables } from "../db/index.ts";

export interface Spender {
  teamId: number;
  userId: number | null;
}

/** US dollars; null where nothing limits them. */
export async function leftToSpend(db: Kysely<Tables>, { teamId, userId }: Spender): Promise<number | null> {
  const team = await db
    .selectFrom("teams")
    .select(["spend_limit_usd", spentBy("team_id", teamId).as("spent")])
    .where("id", "=", teamId)
    .executeTakeFirst();
  const user =
    userId === null
      ? undefined
      : await db
          .selectFrom("users")
          .select(["spend_limit_usd", spentBy("user_id", userId).as("spent")])
          .where("id", "=", userId)
          .executeTakeFirst();
  const rooms = [team, user].flatMap((limit) =>
    limit && limit.spend_limit_usd !== null ? Number(limit.spend_limit_usd) - Number(limit.spent ?? 0) : [],
  );
  return rooms.length === 0 ? null : Math.max(0, Math.min(...rooms));
}

/** This month: on runs, and on models that were asked through the platform, of which open ones count as reserved. */
const spentBy = (owner: "team_id" | "user_id", id: number) => sql<string>`(
  select coalesce(sum(cost_usd), 0) from (
    select cost_usd from runs where ${sql.ref(owner)} = ${id} and created_at >= date_trunc('month', now())
    union all
    select cost_usd from inference_calls where ${sql.ref(owner)} = ${id} and created_at >= date_trunc('month', now())
  ) as costs
)`;

export interface Allowance {
  /** US dollars of user and team; null where nothing limits them. */
  leftUsd: number | null;
  budget: Budget | undefined;
  /** What is narrower in US dollars. */
  bound: "spend" | "budget";
}

export async function allowanceOf(
  { db, settings }: { db: Kysely<Tables>; settings: Settings },
  spender: Spender,
): Promise<Allowance> {
  const leftUsd = await leftToSpend(db, spender);
  const { wall, ...budget } = settings.models.budget ?? {};
  const wallMs = wall === undefined ? null : durationMs(wall);
  const usd = Math.min(budget.usd ?? Infinity, leftUsd ?? Infinity);
  const all = { ...budget, ...(wallMs !== null && { wallMs }), ...(Number.isFinite(usd) && { usd }) };
  return {
    leftUsd,
    budget: Object.keys(all).length > 0 ? all : undefined,
    bound: usd < (budget.usd ?? Infinity) ? "spend" : "budget",
  };
}
