// What runs used, as the platform tells it.
import { type AgentUsage, usageFrom } from "../agent-files.ts";
import type { LocalRunRecord } from "../local-store.ts";
import type { TokenUsage } from "../messages.ts";

/** Newest first; of one run where one is named. */
export function usageIn(runs: LocalRunRecord[], runId?: string): AgentUsage {
  const meant = runId === undefined ? runs : runs.filter(({ id }) => id === runId);
  const used = meant.flatMap(({ id, usage }) => (usage ? [{ id, usage: plain(usage) }] : [])).reverse();
  return usageFrom({ totalUsage: used.map(({ usage }) => usage).reduce(add, nothing), runs: used });
}

type Usage = AgentUsage["totalUsage"];

const nothing: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, totalTokens: 0 };

const plain = ({ reasoningTokens: _, ...usage }: TokenUsage): Usage => usage;

const add = (left: Usage, right: Usage): Usage => ({
  inputTokens: left.inputTokens + right.inputTokens,
  outputTokens: left.outputTokens + right.outputTokens,
  cacheReadTokens: left.cacheReadTokens + right.cacheReadTokens,
  cacheWriteTokens: left.cacheWriteTokens + right.cacheWriteTokens,
  totalTokens: left.totalTokens + right.totalTokens,
});
