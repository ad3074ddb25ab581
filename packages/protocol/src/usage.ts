// What model requests use and cost.
import { z } from "zod";

export const Usage = z.object({
  inputTokens: z.int().nonnegative(),
  cachedInputTokens: z.int().nonnegative(),
  cacheWriteInputTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  reasoningOutputTokens: z.int().nonnegative(),
});
export type Usage = z.infer<typeof Usage>;

/** The cost of a model request. The price is stored because price lists change. */
export const chargeFields = {
  usage: Usage,
  model: z.string(),
  costUsd: z.number().nullable().optional().describe("Null where the price is not known"),
};
