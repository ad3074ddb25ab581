// model/list and related methods: the models available with the current configuration.
import { findProvider, modelFacts, practice, pricedModels } from "@agentcli/models";
import type { EffectiveConfig } from "@agentcli/project";
import type { Features } from "@agentcli/protocol";
import type { Model } from "@agentcli/protocol/app-server";
import { configShape } from "@agentcli/protocol/config-shapes";
import type { Host, OpenPart } from "../method.ts";
import { refusing } from "../refusing.ts";
import { pageOf } from "./page.ts";

export const openModels: OpenPart = (host) => ({
  methods: {
    "model/list": ({ includeHidden, ...wanted }) =>
      refusing(async () => {
        const { config } = (await host.agent.configuration.load(null)).loaded;
        return pageOf(
          modelsOf(config, host).filter(({ hidden }) => includeHidden || !hidden),
          wanted,
        );
      }),
    // Tools that a provider would execute itself: none is used.
    "modelProvider/capabilities/read": () => ({ namespaceTools: false, imageGeneration: false, webSearch: false }),
    "experimentalFeature/list": (wanted) =>
      refusing(async () =>
        pageOf(featuresOf((await host.agent.configuration.load(null)).loaded.config.features ?? {}), wanted),
      ),
  },
  close: async () => {},
});

/** What is configured comes first, the practice model is always there; of others only those OpenAI serves are known. */
function modelsOf(config: EffectiveConfig, { program }: Host): Model[] {
  const { model, review_model: review, model_provider: providerId } = config;
  const provider = providerId === practice ? null : findProvider(providerId, config, program.environment.variables);
  const known = providerId === "openai" ? pricedModels().filter((name) => /^(gpt|o\d)/.test(name)) : [];
  const names = new Set([model, ...(review ? [review] : []), ...known, practice]);
  return [...names].map((name) => describe(name, { config, wireApi: provider?.wire_api ?? "responses" }));
}

const olderModels = /^(gpt-4|o\d)/;

function describe(
  name: string,
  { config, wireApi }: { config: EffectiveConfig; wireApi: Parameters<typeof modelFacts>[1] },
): Model {
  const { contextWindow, images, reasoning } = modelFacts(name, wireApi, config.catalogue);
  const isDefault = name === config.model;
  const size = `${Math.round(contextWindow / 1000)}k tokens of context`;
  return {
    id: name,
    model: name,
    displayName: name,
    description: name === practice ? "Follows plain instructions without a key and without a network." : size,
    hidden: !isDefault && name !== config.review_model && olderModels.test(name),
    isDefault,
    supportedReasoningEfforts: reasoning && name !== practice ? efforts : [],
    defaultReasoningEffort: reasoning && name !== practice ? (config.model_reasoning_effort ?? "medium") : "none",
    inputModalities: images ? ["text", "image"] : ["text"],
    supportsPersonality: false,
  };
}

const efforts = [
  { reasoningEffort: "low", description: "Little thinking, quick answers" },
  { reasoningEffort: "medium", description: "Enough thinking for most work" },
  { reasoningEffort: "high", description: "Much thinking for hard problems" },
  { reasoningEffort: "xhigh", description: "As much thinking as the model allows" },
];

/** Others are accepted in a configuration and do nothing yet. */
const effective = ["hooks"];

function featuresOf(configured: Features) {
  const names = Object.keys(configShape.properties?.features?.properties ?? {}) as (keyof Features)[];
  return names.sort().map((name) => {
    const isEffective = effective.includes(name);
    return {
      name,
      stage: isEffective ? ("stable" as const) : ("underDevelopment" as const),
      enabled: configured[name] ?? isEffective,
      defaultEnabled: isEffective,
    };
  });
}
