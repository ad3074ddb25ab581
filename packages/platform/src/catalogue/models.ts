// Models that agents may name: the configured one first.
import type { ModelEntry } from "@agentcli/protocol/api";
import type { Settings } from "../config/index.ts";

export function knownModels({ models }: Settings): ModelEntry[] {
  const names = [...new Set([models.model, ...(models.models ?? []), "practice"])];
  return names.map((id) => ({ id, displayName: id === "practice" ? "Practice model (scripted, for trying out)" : id }));
}
