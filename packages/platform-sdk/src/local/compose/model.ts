// The model of a local run: behind the platform, or behind a provider of the caller's own.
import { type ChosenModel, openChosenModel } from "@agentcli/host";
import { type Provider, providerDefaults } from "@agentcli/models";
import { accessOf } from "../../connection.ts";
import { ConfigurationError } from "../../errors.ts";
import type { LocalProvider } from "../../local-options.ts";
import type { ConnectionOptions } from "../../options.ts";
import { version } from "../../version.ts";

export interface ModelRequest {
  id: string;
  own: LocalProvider | undefined;
  retries: "some" | "none";
  connection: ConnectionOptions;
  variables: Record<string, string | undefined>;
}

export function chooseModel({ id, own, retries, connection, variables }: ModelRequest): ChosenModel {
  const reached = own ? ownProvider(own, variables) : platformProvider(connection, variables);
  const provider: Provider = {
    ...providerDefaults,
    ...reached,
    ...(retries === "none" && { requestMaxRetries: 0, streamMaxRetries: 0 }),
  };
  const secrets = reached.apiKey === undefined ? [] : [{ name: "apiKey", value: reached.apiKey }];
  return openChosenModel({ id, provider, client: { name: "platform-sdk", version }, secrets });
}

type Reached = Pick<Provider, "id" | "name" | "baseUrl" | "wireApi"> & {
  headers?: Record<string, string>;
  apiKey?: string;
};

function platformProvider(options: ConnectionOptions, variables: ModelRequest["variables"]): Reached {
  const { origin, key } = accessOf(options, variables);
  const headers = { "x-platform-client-type": "sdk", "x-platform-client-version": `sdk-${version}` };
  const baseUrl = `${origin}/v1/inference`;
  return { id: "platform", name: "the platform", baseUrl, wireApi: "responses", headers, apiKey: key };
}

function ownProvider(own: LocalProvider, variables: ModelRequest["variables"]): Reached {
  const { baseUrl, wireApi = "responses", apiKeyEnv, headers } = own;
  if (!/^https?:\/\/[^/]+/.test(baseUrl))
    throw invalid(`local.provider.baseUrl: ${baseUrl} is not an http or https address.`);
  if (!wireApis.includes(wireApi)) throw invalid("local.provider.wireApi: is responses, chat or anthropic.");
  const apiKey = own.apiKey ?? (apiKeyEnv === undefined ? undefined : variables[apiKeyEnv]);
  if (apiKeyEnv !== undefined && !apiKey) throw invalid(`local.provider.apiKeyEnv: ${apiKeyEnv} is not set.`);
  return {
    ...{ id: "own", name: baseUrl, baseUrl: baseUrl.replace(/\/+$/, ""), wireApi },
    ...(headers && { headers }),
    ...(apiKey && { apiKey }),
  };
}

const wireApis: string[] = ["responses", "chat", "anthropic"] satisfies Provider["wireApi"][];

const invalid = (message: string): ConfigurationError =>
  new ConfigurationError(message, { code: "invalid_option", operation: "agent.send" });
