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

/** What several model requests used and cost together. */
export const Charges = z.object({
  usage: Usage,
  costUsd: z.number().nullable().describe("Null where a price is not known"),
});
export type Charges = z.infer<typeof Charges>;

/** An amount on the wire. */
export const DecimalUsd = z
  .string()
  .regex(/^\d+\.\d{6}$/)
  .describe("US dollars as a decimal with six digits");

/** The cost of a model request. The price is stored because price lists change. */
export const chargeFields = {
  usage: Usage,
  model: z.string(),
  costUsd: z.number().nullable().optional().describe("Null where the price is not known"),
};
