// The model of a run: the practice model, or a model of a provider in the server's configuration.
import { type ChosenModel, openChosenModel, providerTimeouts } from "@agentcli/host";
import { describeProvider, findProvider, modelFacts, type Provider, practice } from "@agentcli/models";
import { openPracticeModel } from "@agentcli/models/practice";
import { type Settings, version } from "../../../foundation/index.ts";

/** `otherwise` overrides settings of the configured provider. */
export function chooseModel(
  id: string | undefined,
  { models, variables }: Settings,
  otherwise: Partial<Provider> = {},
): ChosenModel {
  const name = id ?? models.model;
  const providerId =
    name === practice ? practice : (models.model_provider ?? (hasKey(variables) ? "openai" : practice));
  if (providerId === practice) return practiceModel();
  const entry = findProvider(providerId, models, variables);
  const keyName = entry.env_key ?? (entry.requires_openai_auth ? "AGENT_API_KEY" : undefined);
  const key = keyName && variables[keyName];
  const provider: Provider = {
    ...describeProvider(providerId, entry, { variables, ...providerTimeouts(models.limits) }),
    ...(key && { apiKey: key }),
    ...otherwise,
  };
  const secrets = keyName && key ? [{ name: keyName, value: key }] : [];
  return openChosenModel({ id: name, provider, client: { name: "platform", version }, secrets });
}

const hasKey = ({ AGENT_API_KEY }: NodeJS.ProcessEnv): boolean => Boolean(AGENT_API_KEY);

const practiceModel = (): ChosenModel => ({
  id: practice,
  provider: practice,
  model: openPracticeModel(),
  facts: modelFacts(practice, "responses"),
  secrets: [],
});
