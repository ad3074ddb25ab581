// `--spend-limit`: dollars a month, or none.
import { CommandError } from "@agentcli/command-line";
import type { Invocation } from "./command.ts";

export function readSpendLimit({ text }: Invocation): { spendLimitUsd?: number | null } {
  const value = text("spend-limit");
  if (value === undefined) return {};
  if (value === "none") return { spendLimitUsd: null };
  if (/^\d{1,9}(?:\.\d{1,6})?$/.test(value)) return { spendLimitUsd: Number(value) };
  throw new CommandError("usage", `Invalid --spend-limit ${value}: expected dollars per month, such as 250, or none.`);
}

export const shownLimit = (limit: number | null): string => (limit === null ? "no limit" : `${limit} USD a month`);
