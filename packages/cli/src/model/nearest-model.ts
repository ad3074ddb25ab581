// The model that a name which no provider knows was probably meant to be.
import { practice, pricedModels } from "@agentcli/models";
import { nearest } from "@agentcli/project/nearest";
import type { Config, TurnSettings } from "@agentcli/protocol";

/** As a sentence after an error message; empty if no known name is near. */
export function modelHint({ model, provider }: Pick<TurnSettings, "model" | "provider">, { prices }: Config): string {
  const listed = provider === "openai" ? pricedModels() : [];
  // Digits are the version of a model: another version is another model.
  const known = [practice, ...Object.keys(prices ?? {}), ...listed].filter((name) => digits(name) === digits(model));
  const near = known.includes(model) ? undefined : nearest(model, known);
  return near === undefined ? "" : ` Did you mean --model ${near}?`;
}

const digits = (name: string): string => name.replace(/\D/g, "");
