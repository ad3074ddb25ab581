// The model of a run: the practice model, or a model of a provider in the server's configuration.
import type { Model } from "@agentcli/engine";
import {
  describeProvider,
  findProvider,
  type ModelFacts,
  modelFacts,
  openModel,
  type Provider,
  practice,
} from "@agentcli/models";
import { openPracticeModel } from "@agentcli/models/practice";
import { durationMs } from "@agentcli/project";
import { type Settings, version } from "../../../foundation/index.ts";

export interface ChosenModel {
  id: string;
  provider: string;
  model: Model;
  facts: ModelFacts;
  /** To be redacted: the provider's API key. */
  secrets: { name: string; value: string }[];
}

/** `otherwise` overrides settings of the configured provider. */
export function chooseModel(
  id: string | undefined,
  { models, variables }: Settings,
  otherwise: Partial<Provider> = {},
): ChosenModel {
  const name = id ?? models.model;
  const providerId =
    name === practice ? practice : (models.model_provider ?? (hasKey(variables) ? "openai" : practice));
  if (providerId === practice)
    return {
      id: practice,
      provider: practice,
      model: openPracticeModel(),
      facts: modelFacts(practice, "responses"),
      secrets: [],
    };
  const entry = findProvider(providerId, models, variables);
  const keyName = entry.env_key ?? (entry.requires_openai_auth ? "AGENT_API_KEY" : undefined);
  const key = keyName && variables[keyName];
  const provider: Provider = {
    ...describeProvider(providerId, entry, {
      variables,
      idleMs: limit(models.limits?.idle, 120_000),
      firstByteMs: limit(models.limits?.["first-byte"], 60_000),
    }),
    ...(key && { apiKey: key }),
    ...otherwise,
  };
  const client = { clientName: "platform", clientVersion: version, random: Math.random };
  return {
    id: name,
    provider: providerId,
    model: openModel(provider, client),
    facts: modelFacts(name, provider.wireApi),
    secrets: keyName && key ? [{ name: keyName, value: key }] : [],
  };
}

const hasKey = ({ AGENT_API_KEY }: NodeJS.ProcessEnv): boolean => Boolean(AGENT_API_KEY);

export const limit = (text: string | undefined, defaultMs: number): number =>
  text === undefined ? defaultMs : (durationMs(text) ?? Infinity);
