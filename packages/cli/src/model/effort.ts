// `model_reasoning_effort`: one of the values that the wire of the provider has.
import { CommandError } from "@agentcli/command-line";
import type { ModelFacts } from "@agentcli/models";
import { nearest } from "@agentcli/project/nearest";
import type { Config, TurnSettings, WireApi } from "@agentcli/protocol";

const common = ["none", "minimal", "low", "medium", "high", "xhigh"];
const efforts: Record<WireApi, string[]> = {
  responses: [...common, "max", "ultra"],
  chat: common,
  anthropic: [...common, "max"],
};

/** Throws for a value that the wire does not have; warns where the model takes none. */
export function checkEffort({ effort, model }: TurnSettings, { agents }: Config, wire: EffortWire): string[] {
  check("model_reasoning_effort", effort, wire.api);
  check("agents.default_subagent_reasoning_effort", agents?.default_subagent_reasoning_effort, wire.api);
  if (effort === undefined) return [];
  if (!wire.facts.reasoning) return [`model_reasoning_effort has no effect: ${model} does not reason.`];
  if (wire.api !== "anthropic" || wire.facts.thinking !== "none" || effort === "none") return [];
  return [
    `model_reasoning_effort has no effect: agentcli does not know how ${model} thinks with wire_api = "anthropic".`,
  ];
}

export interface EffortWire {
  api: WireApi;
  facts: ModelFacts;
}

function check(key: string, value: string | undefined, api: WireApi): void {
  const known = efforts[api];
  if (value === undefined || known.includes(value)) return;
  const near = nearest(value, known);
  throw new CommandError(
    "usage",
    `${key} = ${JSON.stringify(value)}: with wire_api = "${api}" it must be one of ${known.join(", ")}.${near ? ` Did you mean ${near}?` : ""}`,
  );
}
