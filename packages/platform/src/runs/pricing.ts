// Models whose price nobody knows: what they cost cannot be held against a spend limit, so under one they are refused.
import { practice, priceBook } from "@agentcli/models";
import type { CustomSubagent } from "@agentcli/protocol/api";
import type { Settings } from "../config/index.ts";
import { chooseModel } from "./compose/index.ts";

/** The first of them, as providers call it; null where all have a price. A name that is not given is the server's model. */
export function findUnpriced(names: (string | undefined)[], settings: Settings): string | null {
  const price = priceBook({ [practice]: { input: 0, output: 0 }, ...settings.models.prices });
  for (const name of names) {
    const { id } = chooseModel(name, settings);
    if (price(id, nothingUsed) === null) return id;
  }
  return null;
}

/** Those that are named, `inherit` aside. */
export const modelsOfSubagents = (subagents: CustomSubagent[]): string[] =>
  subagents.flatMap(({ model }) => {
    const name = typeof model === "string" ? model : model?.id;
    return name === undefined || name === "inherit" ? [] : [name];
  });

export const unpriced = (model: string): string =>
  `The price of the model ${model} is not known, and a spend limit holds here. Name another model, or ask who runs the platform to write its price below [prices."${model}"] in the configuration.`;

const nothingUsed = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};
