// Keeps the credentials of a provider out of everything that is shown.
import type { Provider } from "./provider.ts";

export function hideSecrets(provider: Provider, key: string | undefined): (text: string) => string {
  const secrets = [
    key,
    ...secretValues(provider.headers),
    ...secretValues(provider.query),
    passwordIn(provider.baseUrl),
  ].filter((secret) => secret !== undefined && secret.length >= shortestSecret);
  return (text) => secrets.reduce<string>((shown, secret) => shown.replaceAll(secret ?? "", "[hidden]"), text);
}

// Hiding one or two letters would only garble the message.
const shortestSecret = 4;

const secretName = /key|token|secret|auth|password|cookie|signature/i;

const secretValues = (named: Record<string, string>): string[] =>
  Object.entries(named).flatMap(([name, value]) =>
    secretName.test(name) ? [value, value.replace(/^(Bearer|Basic) /i, "")] : [],
  );

function passwordIn(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).password || undefined : undefined;
}
