// The model of a run: the practice model, or one behind a provider.
import type { Model } from "@agentcli/engine";
import type { SubagentModels } from "@agentcli/host";
import { type ModelFacts, modelFacts, openModel, practice } from "@agentcli/models";
import type { EffectiveConfig } from "@agentcli/project";
import type { Config, TurnSettings, WireApi } from "@agentcli/protocol";
import type { Program } from "../program.ts";
import { resolveProvider } from "./provider.ts";

export async function chooseModel(
  settings: TurnSettings,
  config: Config,
  { environment, reporter, version }: Program,
): Promise<{ model: Model; facts: ModelFacts; wireApi: WireApi }> {
  if (settings.provider === practice) {
    if (environment.variables.OPENAI_API_KEY?.trim()) reporter.log(unusedByPractice);
    const { openPracticeModel } = await import("@agentcli/models/practice");
    return { model: openPracticeModel(), facts: modelFacts(practice, "responses"), wireApi: "responses" };
  }
  const { provider } = await resolveProvider(settings, config, { environment, log: reporter.log });
  const originator = originatorOf(environment.variables.AGENT_INTERNAL_ORIGINATOR_OVERRIDE);
  const client = { clientName: "agentcli", clientVersion: version, originator, random: Math.random };
  const { wireApi } = provider;
  return { model: openModel(provider, client), facts: modelFacts(settings.model, wireApi), wireApi };
}

/** Sub-agents have models of the run's provider, or the practice model; only a role can name another provider. */
export const subagentModels = (main: TurnSettings, config: EffectiveConfig, program: Program): SubagentModels => ({
  locate(model) {
    if (model === practice) return { model, provider: practice };
    return { model, provider: main.provider === practice ? config.model_provider : main.provider };
  },
  open: async (settings) => (await chooseModel(settings, config, program)).model,
});

const unusedByPractice =
  'note: OPENAI_API_KEY is set, but the practice model uses no key. For a real model: AGENT_API_KEY="$OPENAI_API_KEY" and another --model.';

/** Set by what drives the program; only what may stand in a header counts. */
const originatorOf = (text = ""): string | undefined => (/^[\w.-]{1,64}$/.test(text) ? text : undefined);
