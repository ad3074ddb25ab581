// Models without a known price: a spend limit cannot account for their cost, so they are refused where one applies.
import { practice, priceBook } from "@agentcli/models";
import type { CustomSubagent } from "@agentcli/protocol/api";
import type { Settings } from "../../foundation/index.ts";
import { chooseModel } from "./compose/index.ts";

/** The provider's name of the first model without a price; null if all have one. `undefined` stands for the server's model. */
export function findUnpriced(names: (string | undefined)[], settings: Settings): string | null {
  const price = priceBook({ [practice]: { input: 0, output: 0 }, ...settings.models.prices });
  for (const name of names) {
    const { id } = chooseModel(name, settings);
    if (price(id, nothingUsed) === null) return id;
  }
  return null;
}

/** Models named by sub-agents, except `inherit`. */
export const modelsOfSubagents = (subagents: CustomSubagent[]): string[] =>
  subagents.flatMap(({ model }) => {
    const name = typeof model === "string" ? model : model?.id;
    return name === undefined || name === "inherit" ? [] : [name];
  });

const nothingUsed = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};
