// The model of a run: the practice model where it was chosen, or a model of a provider in the server's configuration. No model
// stands in for another: one that cannot be used answers every request with the reason.
import type { Model, ModelFault, Secret } from "@agentcli/engine";
import { type ChosenModel, compactAtWindow, type OtherModels, openChosenModel, providerTimeouts } from "@agentcli/host";
import {
  describeProvider,
  findProvider,
  locateModel,
  modelFacts,
  type Provider,
  ProviderError,
  practice,
  presetKeys,
} from "@agentcli/models";
import { withFallback } from "@agentcli/models/fallback";
import type { RunModel } from "@agentcli/protocol/api";
import { type ModelSettings, type Settings, version } from "../../../foundation/index.ts";

export interface LocatedModel extends ChosenModel {
  baseUrl: string | null;
  /** Why it cannot be used, as far as the configuration shows that. */
  obstacle: string | null;
}

/** `otherwise` overrides settings of the configured provider. */
export function chooseModel(
  id: string | undefined,
  settings: Settings,
  otherwise: Partial<Provider> = {},
): LocatedModel {
  return openModelAt({ ...locate(id ?? settings.models.model, settings.models), otherwise }, settings);
}

/** With the models of `model_fallback` behind it. */
export function chooseModels(id: string | undefined, settings: Settings): LocatedModel {
  const chosen = chooseModel(id, settings);
  const { models } = settings;
  const located = (models.model_fallback ?? []).map((label) => ({ label, ...locate(label, models) }));
  const chain = located
    .filter((location) => isAllowed(location, models))
    .map(({ label, name, providerId }) => {
      const isSame = providerId === chosen.provider && chosen.obstacle === null;
      const model = isSame ? chosen.model : openModelAt({ name, providerId }, settings).model;
      return { label, name, model, contextWindow: modelFacts(name, "responses").contextWindow };
    });
  return chain.length === 0 ? chosen : { ...chosen, model: withFallback(chosen.model, chain) };
}

function openModelAt(
  { name, providerId, otherwise = {} }: Location & { otherwise?: Partial<Provider> },
  settings: Settings,
): LocatedModel {
  if (providerId === practice) return limitedTo(practiceModel(), settings.models);
  try {
    return limitedTo(openProviderModel({ name, providerId, otherwise }, settings), settings.models);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const fault = { code: "refused" as const, message: error.message };
    return { ...unusable(name, providerId, fault), baseUrl: null };
  }
}

/** Without opening it: what `chooseModel` would choose. */
export function identifyModel(id: string | undefined, { models }: Settings): Required<RunModel> {
  const { name, providerId } = locate(id ?? models.model, models);
  return { id: name, provider: providerId };
}

/** Models of sub-agents and prompt hooks: named like those of agents. */
export const otherModels = (settings: Settings): OtherModels => ({
  locate(name) {
    const { id, provider } = identifyModel(name, settings);
    return { model: id, provider };
  },
  open: async ({ model, provider }) => openModelAt({ name: model, providerId: provider }, settings).model,
  compactAt(model) {
    const { contextWindow } = modelFacts(model, "responses");
    return compactAtWindow(Math.min(contextWindow, settings.models.model_context_window ?? contextWindow));
  },
});

/** The keys of all providers: a sub-agent may use any of them. */
export function providerKeys({ models, variables }: Settings): Secret[] {
  const own = Object.values(models.model_providers ?? {}).map(({ env_key }) => env_key);
  const names = [...new Set(["AGENT_API_KEY", ...presetKeys, ...own])];
  return names.flatMap((name) => {
    const value = name && variables[name];
    return value ? [{ name, value }] : [];
  });
}

interface Location {
  name: string;
  providerId: string;
}

function locate(id: string, models: ModelSettings): Location {
  const { model: name, provider: providerId } = locateModel(id, models);
  return { name, providerId };
}

function openProviderModel(
  { name, providerId, otherwise }: Location & { otherwise: Partial<Provider> },
  { models, variables }: Settings,
): LocatedModel {
  const entry = findProvider(providerId, models, variables);
  const keyName = entry.env_key ?? (entry.requires_openai_auth ? "AGENT_API_KEY" : undefined);
  const key = keyName && variables[keyName];
  const described = describeProvider(providerId, entry, { variables, ...providerTimeouts(models.limits) });
  const { baseUrl } = described;
  if (keyName && !key) {
    const message = `The model ${name} of provider ${providerId} needs a key, and ${keyName} is not set.`;
    return { ...unusable(name, providerId, { code: "auth", message }), baseUrl };
  }
  const provider: Provider = { ...described, ...(key && { apiKey: key }), ...otherwise };
  const secrets = keyName && key ? [{ name: keyName, value: key }] : [];
  const client = { name: "platform", version };
  return { ...openChosenModel({ id: name, provider, client, secrets }), baseUrl, obstacle: null };
}

/** Whatever name it was given by. */
const isAllowed = ({ name, providerId }: Location, models: ModelSettings): boolean =>
  !models.allowed ||
  models.allowed.some((id) => {
    const allowed = locate(id, models);
    return allowed.name === name && allowed.providerId === providerId;
  });

/** Answers for no model that the team may not use, also where a sub-agent or a hook names another one of its provider. */
function limitedTo(located: LocatedModel, models: ModelSettings): LocatedModel {
  const { provider, model } = located;
  if (!models.allowed) return located;
  const may = (name: string): boolean => isAllowed({ name, providerId: provider }, models);
  return {
    ...located,
    model: {
      async reply(request, onProgress, signal) {
        const { model: name } = request;
        if (may(name)) return model.reply(request, onProgress, signal);
        const message = `The team may not use the model ${name} of ${provider}. Choose one of GET /v1/models, or ask an administrator of the team.`;
        return { kind: "fault", fault: { code: "refused", message } };
      },
      countTokens: async (request, signal) =>
        may(request.model) ? ((await model.countTokens?.(request, signal)) ?? null) : null,
    },
  };
}

const wayOn =
  "Ask the operator to configure it and restart the server (platform models shows which models answer), or choose another model.";

const unusable = (id: string, provider: string, { code, message }: ModelFault): Omit<LocatedModel, "baseUrl"> => ({
  id,
  provider,
  model: { reply: async () => ({ kind: "fault", fault: { code, message: `${message} ${wayOn}` } }) },
  facts: modelFacts(id, "responses"),
  secrets: [],
  obstacle: message,
});

/** Loaded with the first request: a server that has a provider does not use it. */
const practiceReplies: Model = {
  async reply(request, onProgress, signal) {
    const { openPracticeModel } = await import("@agentcli/models/practice");
    return openPracticeModel().reply(request, onProgress, signal);
  },
};

const practiceModel = (): LocatedModel => ({
  id: practice,
  provider: practice,
  model: practiceReplies,
  facts: modelFacts(practice, "responses"),
  secrets: [],
  baseUrl: null,
  obstacle: null,
});

/** For logs and terminals: the model of agents that name none, and where it is. */
export function describeModel(settings: Settings): string {
  const { id, provider, baseUrl, obstacle } = chooseModel(undefined, settings);
  if (provider === practice) return practiceNotice;
  const where = baseUrl === null ? "" : ` at ${baseUrl}`;
  return `${id} of ${provider}${where}${obstacle ? ` (cannot be used: ${obstacle})` : ""}`;
}

export const isPractice = (settings: Settings): boolean => chooseModel(undefined, settings).provider === practice;

export const practiceNotice =
  "the practice model: scripted, no intelligence. For a real one set AGENT_API_KEY, or model and model_provider";
