// How much of the budget of a turn is used.
import type { Budget } from "@agentcli/protocol";

export type BudgetPart = "usd" | "tokens" | "turns" | "tools";

export interface TurnBudget {
  limits: Budget | undefined;
  spent: Record<BudgetPart, number>;
}

export const openBudget = (limits: Budget | undefined): TurnBudget => ({
  limits,
  spent: { usd: 0, tokens: 0, turns: 0, tools: 0 },
});

const parts: BudgetPart[] = ["usd", "tokens", "turns", "tools"];

/** The part that is nearest to its end; null without a budget. */
export function budgetUse({ limits, spent }: TurnBudget): { name: BudgetPart; used: number } | null {
  const uses = parts.flatMap((name) => {
    const limit = limits?.[name];
    return limit ? [{ name, used: Math.min(1, spent[name] / limit) }] : [];
  });
  return uses.reduce<(typeof uses)[number] | null>((most, use) => (most && most.used >= use.used ? most : use), null);
}
