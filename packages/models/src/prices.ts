// Prices of tokens, in US dollars per million: those of the catalogue, or of the user.
import type { ModelsFile, Usage } from "@agentcli/protocol";
import { catalogue } from "../generated/catalogue.ts";
import { entryOf } from "./catalog.ts";

export interface Price {
  input: number;
  cachedInput: number;
  output: number;
  cacheWrite: number;
}

/** Null if the price is unknown: no figure is better than a wrong one. */
export function costUsd(model: string, usage: Usage, own?: ModelsFile): number | null {
  const price = priceOf(model, own);
  if (!price) return null;
  const fresh = usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteInputTokens;
  const micros =
    Math.max(0, fresh) * price.input +
    usage.cachedInputTokens * price.cachedInput +
    usage.cacheWriteInputTokens * price.cacheWrite +
    usage.outputTokens * price.output;
  return micros / 1_000_000;
}

/** Per million tokens; undefined if it is unknown. A gateway has prices of its own, so its names have none here. */
export function priceOf(model: string, own?: ModelsFile): Price | undefined {
  const { input, output, cached_input, cache_write } =
    entryOf(model.toLowerCase().replace(snapshotDate, ""), own) ?? {};
  if (input === undefined || output === undefined) return undefined;
  return { input, output, cachedInput: cached_input ?? input, cacheWrite: cache_write ?? input };
}

/** Models with a known price. */
export const pricedModels = (): string[] =>
  Object.entries(catalogue).flatMap(([name, { input }]) => (input === undefined ? [] : [name]));

const snapshotDate = /-(20\d\d-\d\d-\d\d|20\d{6})$/;
