// Models that a run uses besides its own: those of sub-agents, and those that prompt hooks name.
import type { Model, NamedModel } from "@agentcli/engine";
import type { TurnSettings } from "@agentcli/protocol";

export interface OtherModels {
  /** The provider of a named model, and its name there. */
  locate(name: string): Pick<TurnSettings, "model" | "provider">;
  /** Throws if the provider cannot be used. */
  open(settings: TurnSettings): Promise<Model>;
  /** Where a thread with this model is compacted, in tokens. */
  compactAt(model: string): number;
}

/** Each provider is opened once. */
export function openNamedModels(
  models: OtherModels,
  main: { model: Model; settings: TurnSettings },
): (name: string) => Promise<NamedModel> {
  const opened = new Map<string, Promise<Model>>([[main.settings.provider, Promise.resolve(main.model)]]);
  return async (name) => {
    const location = models.locate(name);
    const model = opened.get(location.provider) ?? models.open({ ...main.settings, ...location });
    opened.set(location.provider, model);
    return { model: await model, name: location.model };
  };
}
