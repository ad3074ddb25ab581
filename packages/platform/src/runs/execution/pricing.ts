// Models without a known price: a spend limit cannot account for their cost, so they are refused where one applies.
import { practice, priceBook } from "@agentcli/models";
import type { CustomSubagent } from "@agentcli/protocol/api";
import type { Settings } from "../../foundation/index.ts";
import { chooseModel } from "./compose/index.ts";

/** A model that a run may use; without an id, the server's. */
export interface UsedModel {
  id: string | undefined;
  /** The sub-agent that uses it; absent for the agent itself. */
  subagent?: string;
}

/** The first model without a price, by the provider's name; null if all have one. */
export function findUnpriced(used: UsedModel[], settings: Settings): (UsedModel & { id: string }) | null {
  const price = priceBook({ [practice]: { input: 0, output: 0 }, ...settings.models.prices });
  for (const one of [...used, ...(settings.models.model_fallback ?? []).map((id) => ({ id }))]) {
    const { id } = chooseModel(one.id, settings);
    if (price(id, nothingUsed) === null) return { ...one, id };
  }
  return null;
}

/** Models named by sub-agents, except `inherit`. */
export const modelsOfSubagents = (subagents: CustomSubagent[]): UsedModel[] =>
  subagents.flatMap(({ name, model }) => {
    const id = typeof model === "string" ? model : model?.id;
    return id === undefined || id === "inherit" ? [] : [{ id, subagent: name }];
  });

const nothingUsed = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};
