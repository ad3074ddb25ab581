// What a run used and cost, from its records.
import type { StoredRecord } from "@agentcli/engine";
import type { Usage } from "@agentcli/protocol";

export interface Charges {
  /** Input without what came from or went into the cache. */
  usage: Usage;
  /** Null where a price is not known. */
  costUsd: number | null;
}

export function chargesOf(records: StoredRecord[]): Charges {
  const total: Charges = {
    usage: {
      inputTokens: 0,
      cachedInputTokens: 0,
      cacheWriteInputTokens: 0,
      outputTokens: 0,
      reasoningOutputTokens: 0,
    },
    costUsd: 0,
  };
  for (const { record } of records) {
    if (record.type !== "model.replied" && record.type !== "context.compacted") continue;
    const { inputTokens, cachedInputTokens, cacheWriteInputTokens } = record.usage;
    total.usage.inputTokens += Math.max(0, inputTokens - cachedInputTokens - cacheWriteInputTokens);
    total.usage.cachedInputTokens += cachedInputTokens;
    total.usage.cacheWriteInputTokens += cacheWriteInputTokens;
    total.usage.outputTokens += record.usage.outputTokens;
    total.usage.reasoningOutputTokens += record.usage.reasoningOutputTokens;
    const cost = record.costUsd ?? null;
    total.costUsd = total.costUsd === null || cost === null ? null : total.costUsd + cost;
  }
  return total;
}
