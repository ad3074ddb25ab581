// The models that agents may use: the configured default, additional ones, and the practice model.
import type { ModelEntry } from "@agentcli/protocol/api";
import type { ModelSettings } from "../../foundation/index.ts";

export function listModels({ model, models = [] }: ModelSettings): ModelEntry[] {
  return [...new Set([model, ...models, practice.id])].map((id) =>
    id === practice.id ? practice : { id, displayName: id },
  );
}

const practice: ModelEntry = {
  id: "practice",
  displayName: "Practice model",
  description: "Follows plain instructions through the real tools; no key, no network, no intelligence.",
};
