// The model of a run: the practice model, or one behind a provider.
import type { Model } from "@agentcli/engine";
import type { OtherModels } from "@agentcli/host";
import { type Client, findProvider, type ModelFacts, modelFacts, openModel, practice } from "@agentcli/models";
import type { EffectiveConfig, ModelConfig } from "@agentcli/project";
import type { TurnSettings, WireApi } from "@agentcli/protocol";
import { compactAt } from "../config/settings.ts";
import type { Program } from "../program.ts";
import { resolveProvider } from "./provider.ts";

export async function chooseModel(
  settings: TurnSettings,
  config: ModelConfig,
  { environment, reporter, version }: Program,
): Promise<{ model: Model; facts: ModelFacts; wireApi: WireApi }> {
  if (settings.provider === practice) {
    if (environment.variables.OPENAI_API_KEY?.trim()) reporter.log(unusedByPractice);
    const { openPracticeModel } = await import("@agentcli/models/practice");
    return { model: openPracticeModel(), facts: modelFacts(practice, "responses"), wireApi: "responses" };
  }
  const { provider } = await resolveProvider(settings, config, { environment, log: reporter.log });
  const { wireApi } = provider;
  return {
    model: openModel(provider, clientOf({ environment, version })),
    facts: modelFacts(settings.model, wireApi, config.catalogue),
    wireApi,
  };
}

/** The model, and those of `model_fallback` behind it. */
export async function chooseModels(settings: TurnSettings, config: ModelConfig, program: Program) {
  const chosen = await chooseModel(settings, config, program);
  if (!config.model_fallback?.length) return chosen;
  const { withConfiguredFallback } = await import("./fallback.ts");
  const open = async (other: TurnSettings) => (await chooseModel(other, config, program)).model;
  return { ...chosen, model: await withConfiguredFallback(chosen.model, { settings, config, open }) };
}

/** This program, as providers see it. */
export const clientOf = ({ environment, version }: Pick<Program, "environment" | "version">): Client => ({
  clientName: "agentcli",
  clientVersion: version,
  originator: originatorOf(environment.variables.AGENT_INTERNAL_ORIGINATOR_OVERRIDE),
  random: Math.random,
});

/** What is known of a model without a key for it. */
export function describeModel(
  { provider, model }: TurnSettings,
  config: ModelConfig,
  { variables }: Program["environment"],
): { facts: ModelFacts; wireApi: WireApi } {
  const { wire_api: wireApi = "responses" } = provider === practice ? {} : findProvider(provider, config, variables);
  return { facts: modelFacts(model, wireApi, config.catalogue), wireApi };
}

/** Sub-agents and hooks have models of the run's provider, or the practice model; only a role can name another provider. */
export const otherModels = (main: TurnSettings, config: EffectiveConfig, program: Program): OtherModels => ({
  locate(model) {
    if (model === practice) return { model, provider: practice };
    return { model, provider: main.provider === practice ? config.model_provider : main.provider };
  },
  open: async (settings) => (await chooseModels(settings, config, program)).model,
  compactAt(model) {
    const { contextWindow } = modelFacts(model, "responses", config.catalogue);
    // The configured window is that of the run's model.
    const window = Math.min(contextWindow, config.model_context_window ?? contextWindow);
    return compactAt({ ...config, model_context_window: window }, window);
  },
});

const unusedByPractice =
  'note: OPENAI_API_KEY is set, but the practice model uses no key. For a real model: AGENT_API_KEY="$OPENAI_API_KEY" and another --model.';

/** Set by what drives the program; only what may stand in a header counts. */
const originatorOf = (text = ""): string | undefined => (/^[\w.-]{1,64}$/.test(text) ? text : undefined);
