// What an agent has used and cost.
import { z } from "zod";

export const TokenUsage = z.object({
  inputTokens: z.int(),
  outputTokens: z.int(),
  cacheWriteTokens: z.int(),
  cacheReadTokens: z.int(),
  totalTokens: z.int().describe("The sum of the other four"),
});
export type TokenUsage = z.infer<typeof TokenUsage>;

export const Cost = z.object({ rawCostCents: z.number(), chargedCents: z.number() });

export const AgentUsage = z.object({
  totalUsage: TokenUsage,
  cost: Cost.optional().describe("Absent where a price is not known"),
  runs: z.array(
    z.object({ id: z.string(), usageUuid: z.string().optional(), usage: TokenUsage, cost: Cost.optional() }),
  ),
});
export type AgentUsage = z.infer<typeof AgentUsage>;

export const UsageQuery = z.strictObject({ runId: z.string().min(1).max(100).optional() });
