// Sums of what model requests used and cost.
import type { Charges, Usage } from "@agentcli/protocol";

export const noUsage = (): Usage => ({
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
});

export const addUsage = (left: Usage, right: Usage): Usage => ({
  inputTokens: left.inputTokens + right.inputTokens,
  cachedInputTokens: left.cachedInputTokens + right.cachedInputTokens,
  cacheWriteInputTokens: left.cacheWriteInputTokens + right.cacheWriteInputTokens,
  outputTokens: left.outputTokens + right.outputTokens,
  reasoningOutputTokens: left.reasoningOutputTokens + right.reasoningOutputTokens,
});

export const noCharges = (): Charges => ({ usage: noUsage(), costUsd: 0 });

interface Paid {
  usage: Usage;
  costUsd?: number | null;
}

/** A sum with an unknown part would be a wrong figure: its cost is unknown. */
export function addCharges({ usage, costUsd }: Charges, paid: Paid): Charges {
  const sum = { usage: { ...usage }, costUsd };
  increaseCharges(sum, paid);
  return sum;
}

/** In place: with a copy for each reply, the fold of a long thread costs more. */
export function increaseCharges(sum: Charges, { usage, costUsd = null }: Paid): void {
  sum.usage.inputTokens += usage.inputTokens;
  sum.usage.cachedInputTokens += usage.cachedInputTokens;
  sum.usage.cacheWriteInputTokens += usage.cacheWriteInputTokens;
  sum.usage.outputTokens += usage.outputTokens;
  sum.usage.reasoningOutputTokens += usage.reasoningOutputTokens;
  sum.costUsd = sum.costUsd === null || costUsd === null ? null : sum.costUsd + costUsd;
}
