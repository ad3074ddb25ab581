// The model of a run: the practice model, or one behind a provider.
import type { Model } from "@agentcli/engine";
import { type ModelFacts, modelFacts, openModel, practice } from "@agentcli/models";
import type { Config, TurnSettings } from "@agentcli/protocol";
import type { Program } from "../program.ts";
import { resolveProvider } from "./provider.ts";

export async function chooseModel(
  settings: TurnSettings,
  config: Config,
  { environment, reporter, version }: Program,
): Promise<{ model: Model; facts: ModelFacts }> {
  if (settings.provider === practice) {
    const { openPracticeModel } = await import("@agentcli/models/practice");
    return { model: openPracticeModel(), facts: modelFacts(practice, "responses") };
  }
  const { provider } = await resolveProvider(settings.provider, config, environment, reporter.log);
  const originator = originatorOf(environment.variables.AGENT_INTERNAL_ORIGINATOR_OVERRIDE);
  const client = { clientName: "agentcli", clientVersion: version, originator, random: Math.random };
  return { model: openModel(provider, client), facts: modelFacts(settings.model, provider.wireApi) };
}

/** Set by what drives the program; only what may stand in a header counts. */
const originatorOf = (text = ""): string | undefined => (/^[\w.-]{1,64}$/.test(text) ? text : undefined);
