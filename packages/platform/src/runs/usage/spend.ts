// What a run may spend: the server's budget, and what remains of this month's limits of user and team.
import { durationMs } from "@agentcli/project";
import type { Budget } from "@agentcli/protocol";
import { type Kysely, sql } from "kysely";
import { prepared, type Settings, type Tables } from "../../foundation/index.ts";

export interface Spender {
  teamId: number;
  userId: number | null;
}

export const spendLimitReached = "This month's spend limit has been reached. Ask an administrator to raise it.";

export const priceUnknown = ({ id: model, subagent }: { id: string; subagent?: string }): string =>
  `The price of the model ${model}${subagent === undefined ? "" : ` of the sub-agent ${subagent}`} is unknown, so neither a spend limit nor a budget can be enforced. Choose another model, leave out the budget if there is no spend limit, or ask an administrator to add [prices."${model}"] to the configuration.`;

/** US dollars; null if there is no limit. */
export async function leftToSpend(db: Kysely<Tables>, { teamId, userId }: Spender): Promise<number | null> {
  const limits = await db
    .selectFrom("teams")
    .select(["spend_limit_usd", spentBy("team_id", teamId).as("spent")])
    .where("id", "=", teamId)
    .where("spend_limit_usd", "is not", null)
    .unionAll(
      db
        .selectFrom("users")
        .select(["spend_limit_usd", spentBy("user_id", userId).as("spent")])
        .where("id", "=", sql<number>`${userId}`)
        .where("spend_limit_usd", "is not", null),
    )
    .modifyEnd(prepared)
    .execute();
  const remaining = limits.map(({ spend_limit_usd, spent }) => Number(spend_limit_usd) - Number(spent));
  return remaining.length === 0 ? null : Math.max(0, Math.min(...remaining));
}

/**
 * This month's cost of runs, also of deleted agents, and of model calls through the platform; calls in progress count with
 * their reserved amount.
 */
const spentBy = (owner: "team_id" | "user_id", id: number | null) => sql<string>`(
  select coalesce(sum(cost_usd), 0) from (
    select cost_usd from runs where ${sql.ref(owner)} = ${id} and created_at >= date_trunc('month', now())
    union all
    select cost_usd from deleted_runs where ${sql.ref(owner)} = ${id} and created_at >= date_trunc('month', now())
    union all
    select cost_usd from inference_calls where ${sql.ref(owner)} = ${id} and created_at >= date_trunc('month', now())
  ) as costs
)`;

export interface Allowance {
  /** US dollars that user and team have left; null if there is no limit. */
  remainingUsd: number | null;
  budget: Budget | undefined;
  /** Which of the two limits is lower in US dollars. */
  limitedBy: "spend" | "budget";
}

export async function allowanceOf(
  { db, settings }: { db: Kysely<Tables>; settings: Settings },
  spender: Spender,
): Promise<Allowance> {
  const remainingUsd = await leftToSpend(db, spender);
  const { wall, ...budget } = settings.models.budget ?? {};
  const wallMs = wall === undefined ? null : durationMs(wall);
  const usd = Math.min(budget.usd ?? Infinity, remainingUsd ?? Infinity);
  const all = { ...budget, ...(wallMs !== null && { wallMs }), ...(Number.isFinite(usd) && { usd }) };
  return {
    remainingUsd,
    budget: Object.keys(all).length > 0 ? all : undefined,
    limitedBy: usd < (budget.usd ?? Infinity) ? "spend" : "budget",
  };
}

/** With a limit of this run alone; undefined: it has none. */
export function limitedTo(allowance: Allowance, budgetUsd: number | undefined): Allowance {
  if (budgetUsd === undefined || budgetUsd >= (allowance.budget?.usd ?? Infinity)) return allowance;
  return { ...allowance, budget: { ...allowance.budget, usd: budgetUsd }, limitedBy: "budget" };
}
