// `model_fallback`: the models behind that of a run, opened before it starts, so that a missing key is reported then.
import type { Model } from "@agentcli/engine";
import { locateModel, modelFacts } from "@agentcli/models";
import { type FallbackModel, withFallback } from "@agentcli/models/fallback";
import type { ModelConfig } from "@agentcli/project";
import type { TurnSettings } from "@agentcli/protocol";

export interface FallbackContext {
  settings: TurnSettings;
  config: ModelConfig;
  open(settings: TurnSettings): Promise<Model>;
}

export async function withConfiguredFallback(main: Model, { settings, config, open }: FallbackContext): Promise<Model> {
  const opened = new Map<string, Model>([[settings.provider, main]]);
  const chain: FallbackModel[] = [];
  for (const label of config.model_fallback ?? []) {
    const location = locateModel(label, { ...config, model_provider: settings.provider });
    const known = opened.get(location.provider);
    const model = known ?? (await open({ ...settings, ...location }));
    opened.set(location.provider, model);
    const { contextWindow } = modelFacts(location.model, "responses", config.catalogue);
    chain.push({ label, name: location.model, model, contextWindow });
  }
  return withFallback(main, chain);
}
