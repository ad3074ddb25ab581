// The URL and the headers of requests to a provider.
import type { Client, Provider } from "./provider.ts";

export interface WireHeaders {
  /** The header with the key, unless the provider has another one. */
  keyHeader: string;
  headers: Record<string, string>;
}

export function addressOf(provider: Provider, path: string): URL {
  const address = `${provider.baseUrl.replace(/\/+$/, "")}/${path}`;
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    throw new Error(`base_url of provider ${provider.id} is not an http or https URL: ${provider.baseUrl}`);
  }
  const url = new URL(address);
  for (const [name, value] of Object.entries(provider.query)) url.searchParams.set(name, value);
  return url;
}

export const clientHeaders = (provider: Provider, client: Client): Record<string, string> => ({
  originator: client.originator ?? "agent_exec",
  "user-agent": `${client.clientName}/${client.clientVersion} (${process.platform}; ${process.arch})`,
  ...lowerCased(provider.headers),
});

export function keyHeader(name: string, key: string | undefined): Record<string, string> {
  if (key === undefined) return {};
  return { [name.toLowerCase()]: name.toLowerCase() === "authorization" ? `Bearer ${key}` : key };
}

// Same case, so that a configured header replaces the default one.
const lowerCased = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
