// What a request costs: the prices of the configuration over the built-in price book.
import { costUsd } from "@agentcli/models";
import type { PriceConfig, Usage } from "@agentcli/protocol";

export function priceBook(own: Record<string, PriceConfig> = {}): (model: string, usage: Usage) => number | null {
  return (model, usage) => {
    const price = own[model];
    if (!price) return costUsd(model, usage);
    const fresh = usage.inputTokens - usage.cachedInputTokens;
    const cached = usage.cachedInputTokens * (price.cached_input ?? price.input);
    return (fresh * price.input + cached + usage.outputTokens * price.output) / 1_000_000;
  };
}
