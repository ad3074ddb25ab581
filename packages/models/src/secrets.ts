// Removes the credentials of a provider from messages.
import { redacted } from "@agentcli/protocol/redacted";
import type { Provider } from "./provider.ts";

export function hideSecrets(provider: Provider, key: string | undefined): (text: string) => string {
  const secrets = [
    key,
    ...secretValues(provider.headers),
    ...secretValues(provider.query),
    passwordIn(provider.baseUrl),
    provider.endpoint?.kind === "bedrock" ? provider.endpoint.sessionToken : undefined,
  ].filter((secret) => secret !== undefined && secret.length >= minSecretLength);
  return (text) => secrets.reduce<string>((shown, secret) => shown.replaceAll(secret ?? "", redacted), text);
}

// Hiding shorter texts would make the message unreadable.
const minSecretLength = 4;

const secretName = /key|token|secret|auth|password|cookie|signature/i;

const secretValues = (named: Record<string, string>): string[] =>
  Object.entries(named).flatMap(([name, value]) =>
    secretName.test(name) ? [value, value.replace(/^(Bearer|Basic) /i, "")] : [],
  );

function passwordIn(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).password || undefined : undefined;
}
