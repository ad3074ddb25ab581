// Names of environment variables that hold credentials, whatever they are called. Commands do not get them.
import type { Config } from "@agentcli/protocol";

export function credentialVariables({ model_providers: providers = {}, auth }: Config): string[] {
  const named = Object.values(providers).flatMap(({ env_key: key, env_http_headers: headers = {} }) => [
    key,
    ...Object.values(headers),
  ]);
  return [...named, auth?.workload_identity?.token_env].filter((name) => name !== undefined);
}
