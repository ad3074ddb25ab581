// Opens the model of a provider with its wire API.
import type { Model } from "@agentcli/engine";
import type { WireApi } from "@agentcli/protocol";
import type { Client, Provider } from "./provider.ts";
import { responsesFormat } from "./responses/model.ts";
import { openWire, type Wire } from "./wire.ts";

/** Throws for an invalid base URL; every later failure is a fault of the reply. */
export function openModel(provider: Provider, client: Client): Model {
  return openWire(wires[provider.wireApi], provider, client);
}

const bearer = { keyHeader: "authorization", headers: {} };

export const wires: Record<WireApi, Wire> = {
  // Nearly every run speaks this one.
  responses: { path: "responses", ...bearer, load: async () => responsesFormat },
  chat: { path: "chat/completions", ...bearer, load: async () => (await import("./chat/model.ts")).chatFormat },
  anthropic: {
    path: "messages",
    keyHeader: "x-api-key",
    headers: { "anthropic-version": "2023-06-01" },
    load: async () => (await import("./anthropic/model.ts")).anthropicFormat,
  },
};
