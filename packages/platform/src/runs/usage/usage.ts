// What records cost: tokens and US dollars.
import type { StoredRecord } from "@agentcli/engine";
import type { Usage } from "@agentcli/protocol";

export interface Charges {
  /** Input tokens excluding cache reads and cache writes. */
  usage: Usage;
  /** Null if a price is unknown. */
  costUsd: number | null;
}

/** Null if nothing was charged. */
export function chargesOf(records: StoredRecord[]): Charges | null {
  const charged = records.flatMap(({ record }) =>
    record.type === "model.replied" || record.type === "context.compacted" ? [record] : [],
  );
  const sum = (amount: (usage: Usage) => number) => charged.reduce((total, { usage }) => total + amount(usage), 0);
  if (charged.length === 0) return null;
  return {
    usage: {
      inputTokens: sum((usage) =>
        Math.max(0, usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteInputTokens),
      ),
      cachedInputTokens: sum((usage) => usage.cachedInputTokens),
      cacheWriteInputTokens: sum((usage) => usage.cacheWriteInputTokens),
      outputTokens: sum((usage) => usage.outputTokens),
      reasoningOutputTokens: sum((usage) => usage.reasoningOutputTokens),
    },
    costUsd: charged.reduce<number | null>((total, { costUsd }) => addCost(total, costUsd ?? null), 0),
  };
}

const addCost = (total: number | null, cost: number | null): number | null =>
  total === null || cost === null ? null : total + cost;
