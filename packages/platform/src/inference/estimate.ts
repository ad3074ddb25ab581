// What a call is expected to use and to cost before it is made, and what it has used where nobody says.
import { estimateMessage, estimateText, type ModelProgress, type ModelRequest } from "@agentcli/engine";
import { practice, priceBook } from "@agentcli/models";
import type { Usage } from "@agentcli/protocol";
import type { Settings } from "../config/index.ts";

/** US dollars; null where the price of the model is not known. */
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

/** Counts what of an answer has come; a call that breaks off says no more. */
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

/** An answer that names no limit of its own is expected to be at most this long. Few are longer. */
const usualOutputTokens = 16_384;

/** Providers refuse to be asked for less. */
const leastOutputTokens = 16;

export type Admission =
  | { kind: "admitted"; reservedUsd: number | null; maxOutputTokens: number | undefined }
  | { kind: "unpriced" }
  | { kind: "spent" };

export interface Wish {
  /** US dollars; null where nothing limits them. */
  leftUsd: number | null;
  price: Price;
  inputTokens: number;
  /** As the caller limits it. */
  maxOutputTokens: number | undefined;
}

/** What is reserved pays for the whole call; where little is left, the answer may be as long as that pays for. */
export function admit({ leftUsd, price, inputTokens, maxOutputTokens }: Wish): Admission {
  const wanted = maxOutputTokens ?? usualOutputTokens;
  const inputUsd = price(tokens(inputTokens, 0));
  const millionUsd = price(tokens(0, 1_000_000));
  if (inputUsd === null || millionUsd === null)
    return leftUsd === null ? { kind: "admitted", reservedUsd: null, maxOutputTokens } : { kind: "unpriced" };
  const costOf = (outputTokens: number) => inputUsd + (outputTokens * millionUsd) / 1_000_000;
  if (leftUsd === null || costOf(wanted) <= leftUsd)
    return leftUsd === 0 ? { kind: "spent" } : { kind: "admitted", reservedUsd: costOf(wanted), maxOutputTokens };
  const paid = millionUsd === 0 ? 0 : Math.floor(((leftUsd - inputUsd) * 1_000_000) / millionUsd);
  if (paid < leastOutputTokens) return { kind: "spent" };
  return { kind: "admitted", reservedUsd: costOf(paid), maxOutputTokens: paid };
}
