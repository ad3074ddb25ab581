// Opens the model of a provider on the wire it speaks.
import type { Model } from "@agentcli/engine";
import type { WireApi } from "@agentcli/protocol";
import { chatWire } from "./chat/model.ts";
import type { Client, Provider } from "./provider.ts";
import { responsesWire } from "./responses/model.ts";
import { openWire, type Wire } from "./wire.ts";

/** Throws when the base URL is not one; everything later is a fault of the reply. */
export function openModel(provider: Provider, client: Client): Model {
  return openWire(wires[provider.wireApi], provider, client);
}

const wires: Record<WireApi, Wire> = { responses: responsesWire, chat: chatWire };
