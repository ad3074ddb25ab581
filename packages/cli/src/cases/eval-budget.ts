// One budget for all runs of an evaluation: each run may spend what is left of it.
import type { Budget } from "@agentcli/protocol";
import { resolveBudget } from "../exec/budget.ts";
import type { CaseResult } from "./run-case.ts";

export interface EvalBudget {
  /** For the next run, as flags; a case may have a smaller budget of its own. */
  left(own: string[]): string[];
  spend(result: CaseResult): void;
  isSpent(): boolean;
}

type Amounts = Partial<Record<keyof Budget, number>>;

export function openEvalBudget(flags: string[]): EvalBudget {
  const total: Amounts = resolveBudget(flags, undefined, undefined) ?? {};
  const left: Amounts = { ...total };
  const take = (name: keyof Budget, amount: number) => {
    if (left[name] !== undefined) left[name] = left[name] - amount;
  };
  return {
    left: (own) => asFlags(smaller(left, resolveBudget(own, undefined, undefined) ?? {})),
    spend({ facts, durationMs }) {
      const { requests = 0, tokens = 0, tools = 0, usd = 0 } = facts?.spent ?? {};
      take("turns", requests);
      take("tokens", tokens);
      take("tools", tools);
      take("usd", usd ?? 0);
      take("wallMs", durationMs);
    },
    isSpent: () => Object.values(left).some((amount) => amount <= 0),
  };
}

const smaller = (left: Amounts, own: Amounts): Amounts => {
  const names = [...new Set([...Object.keys(left), ...Object.keys(own)])] as (keyof Budget)[];
  return Object.fromEntries(names.map((name) => [name, Math.min(left[name] ?? Infinity, own[name] ?? Infinity)]));
};

const asFlags = ({ wallMs, usd, ...whole }: Amounts): string[] => [
  ...Object.entries(whole).map(([name, amount]) => `${name}=${Math.max(1, Math.floor(amount))}`),
  ...(usd === undefined ? [] : [`usd=${Math.max(usd, 0.000001).toFixed(6)}`]),
  ...(wallMs === undefined ? [] : [`wall=${Math.max(1, Math.floor(wallMs))}ms`]),
];
