// Settings that the wire of the provider has no place for: they would be accepted and do nothing.
import type { Config } from "@agentcli/protocol";
import type { EffortWire } from "./effort.ts";

export function findInert(config: Config, { api }: EffortWire): string[] {
  const { model_verbosity, model_reasoning_summary, service_tier } = config;
  const missing = `wire_api = "${api}" has no such parameter`;
  return [
    ...(model_verbosity && api === "anthropic" ? [`model_verbosity has no effect: ${missing}.`] : []),
    ...(model_reasoning_summary && api === "chat" ? [`model_reasoning_summary has no effect: ${missing}.`] : []),
    ...(service_tier && api === "anthropic" && !anthropicTiers.includes(service_tier)
      ? [
          `service_tier = ${JSON.stringify(service_tier)} has no effect: with wire_api = "anthropic" it is auto or standard_only.`,
        ]
      : []),
  ];
}

const anthropicTiers = ["auto", "standard_only"];
