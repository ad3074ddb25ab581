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

/** A sum with an unknown part would be a wrong figure: its cost is unknown. */
export const addCharges = (
  left: Charges,
  { usage, costUsd = null }: { usage: Usage; costUsd?: number | null },
): Charges => ({
  usage: addUsage(left.usage, usage),
  costUsd: left.costUsd === null || costUsd === null ? null : left.costUsd + costUsd,
});
