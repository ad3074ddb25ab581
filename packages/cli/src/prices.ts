// What a request costs: the prices of the configuration over the built-in price book.
import { costUsd } from "@agentcli/models";
import type { PriceConfig, Usage } from "@agentcli/protocol";

export function priceBook(own: Record<string, PriceConfig> = {}): (model: string, usage: Usage) => number | null {
  return (model, usage) => {
    const { input, output, cached_input: cachedInput = input } = own[model] ?? {};
    if (input === undefined || output === undefined || cachedInput === undefined) return costUsd(model, usage);
    const fresh = (usage.inputTokens - usage.cachedInputTokens) * input;
    return (fresh + usage.cachedInputTokens * cachedInput + usage.outputTokens * output) / 1_000_000;
  };
}
