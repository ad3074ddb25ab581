// Estimates: tokens and cost of a call before it is made, and of one whose usage the server did not report.
import { estimateMessage, estimateText, type ModelProgress, type ModelRequest } from "@agentcli/engine";
import { practice, priceBook } from "@agentcli/models";
import type { Usage } from "@agentcli/protocol";
import type { Settings } from "../foundation/index.ts";

/** US dollars; null if the price of the model is unknown. */
export type Price = (usage: Usage) => number | null;

export function priceOf(model: string, { models }: Pick<Settings, "models">): Price {
  const book = priceBook({ [practice]: { input: 0, output: 0 }, ...models.prices });
  return (usage) => book(model, usage);
}

export const tokens = (inputTokens: number, outputTokens: number): Usage => ({
  inputTokens,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens,
  reasoningOutputTokens: 0,
});

export const inputTokensOf = ({ instructions, messages, tools, outputSchema }: ModelRequest): number =>
  estimateText(instructions) +
  messages.reduce((total, message) => total + estimateMessage(message), 0) +
  estimateText(JSON.stringify([tools, outputSchema ?? null]));

/** Counts streamed output; a stream that is cut off reports no usage. */
export function openMeter(): { take(progress: ModelProgress): void; outputTokens(): number } {
  let streamed = 0;
  let whole = 0;
  return {
    take(progress) {
      if ("delta" in progress) streamed += estimateText(progress.delta);
      if (progress.type === "settled") whole += estimateMessage({ role: "assistant", blocks: [progress.block] });
    },
    outputTokens: () => Math.max(streamed, whole),
  };
}

/** Assumed for requests without max_output_tokens. Few replies are longer. */
const defaultOutputTokens = 16_384;

/** Providers reject smaller limits. */
const minOutputTokens = 16;

export type Admission =
  | { kind: "admitted"; reservedUsd: number | null; maxOutputTokens: number | undefined }
  | { kind: "unpriced" }
  | { kind: "spent" };

export interface CallEstimate {
  /** US dollars; null without a spend limit. */
  leftUsd: number | null;
  price: Price;
  inputTokens: number;
  /** As requested by the caller. */
  maxOutputTokens: number | undefined;
}

/** The reservation covers the whole call; if little budget is left, max_output_tokens is lowered to what it covers. */
export function admit({ leftUsd, price, inputTokens, maxOutputTokens }: CallEstimate): Admission {
  const requested = maxOutputTokens ?? defaultOutputTokens;
  const inputUsd = price(tokens(inputTokens, 0));
  const millionUsd = price(tokens(0, 1_000_000));
  if (inputUsd === null || millionUsd === null)
    return leftUsd === null ? { kind: "admitted", reservedUsd: null, maxOutputTokens } : { kind: "unpriced" };
  const costOf = (outputTokens: number) => inputUsd + (outputTokens * millionUsd) / 1_000_000;
  if (leftUsd === null || costOf(requested) <= leftUsd)
    return leftUsd === 0 ? { kind: "spent" } : { kind: "admitted", reservedUsd: costOf(requested), maxOutputTokens };
  const affordable = millionUsd === 0 ? 0 : Math.floor(((leftUsd - inputUsd) * 1_000_000) / millionUsd);
  if (affordable < minOutputTokens) return { kind: "spent" };
  return { kind: "admitted", reservedUsd: costOf(affordable), maxOutputTokens: affordable };
}
