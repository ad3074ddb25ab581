// `--spend-limit`: dollars a month, or none.
import type { Invocation } from "../args.ts";
import { UsageProblem } from "../problem.ts";

export function readSpendLimit({ text }: Invocation): { spendLimitUsd?: number | null } {
  const given = text("spend-limit");
  if (given === undefined) return {};
  if (given === "none") return { spendLimitUsd: null };
  if (/^\d{1,9}(?:\.\d{1,6})?$/.test(given)) return { spendLimitUsd: Number(given) };
  throw new UsageProblem(`--spend-limit ${given} is no amount. Give dollars for a month, such as 250, or none.`);
}

export const shownLimit = (limit: number | null): string => (limit === null ? "no limit" : `${limit} USD a month`);
