// The model of a service's run, opened at its provider, and what is known about it.
import type { Model, Secret } from "@agentcli/engine";
import { type ModelFacts, modelFacts, openModel, type Provider } from "@agentcli/models";

export interface ChosenModel {
  id: string;
  /** Id of the provider, for the record. */
  provider: string;
  model: Model;
  facts: ModelFacts;
  /** To be redacted: the key of the provider. */
  secrets: Secret[];
}

export interface ModelRequest {
  id: string;
  provider: Provider;
  client: { name: string; version: string };
  secrets: Secret[];
}

export const openChosenModel = ({ id, provider, client, secrets }: ModelRequest): ChosenModel => ({
  id,
  provider: provider.id,
  model: openModel(provider, { clientName: client.name, clientVersion: client.version, random: Math.random }),
  facts: modelFacts(id, provider.wireApi),
  secrets,
});
