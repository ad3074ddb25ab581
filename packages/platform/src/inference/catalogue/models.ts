// The models that agents may use: the configured default, additional ones, and the practice model; each with its parameters.
import { modelFacts, practice as practiceId } from "@agentcli/models";
import type { ModelEntry } from "@agentcli/protocol/api";
import type { ModelSettings } from "../../foundation/index.ts";

export function listModels({ model, models = [], allowed }: ModelSettings): ModelEntry[] {
  return [...new Set([model, ...models, practice.id])]
    .filter((id) => !allowed || allowed.includes(id))
    .map((id) => (id === practice.id ? practice : entryOf(id)));
}

const entryOf = (id: string): ModelEntry => ({
  id,
  displayName: id,
  ...(modelFacts(id, "responses").reasoning && { parameters: [reasoningEffort] }),
});

const reasoningEffort: NonNullable<ModelEntry["parameters"]>[number] = {
  id: "reasoning_effort",
  displayName: "Reasoning effort",
  values: ["none", "minimal", "low", "medium", "high", "xhigh"].map((value) => ({ value })),
};

const practice: ModelEntry = {
  id: practiceId,
  displayName: "Practice model",
  description: "Follows plain instructions through the real tools; no key, no network, no intelligence.",
};
