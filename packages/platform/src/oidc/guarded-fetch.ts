// Asks a provider: at the addresses that the network policy allows, without following anybody, and not for long.
import { type IncomingMessage, request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { hostText, readHost } from "@agentcli/workspace/hosts";
import { checkedAddresses, type NetworkPolicy } from "../network/index.ts";

export interface Asking {
  method: string;
  headers: Record<string, string>;
  body?: string | undefined;
}

export class ProviderAway extends Error {
  override name = "ProviderAway";
}

const limitMs = 10_000;
const mostAnswerBytes = 1024 * 1024;

/** Rejects with ProviderAway, in words for people. */
export async function ask(policy: NetworkPolicy, address: string, asking: Asking): Promise<Response> {
  const signal = AbortSignal.timeout(limitMs);
  const url = new URL(address);
  const host = readHost(url.hostname.replace(/^\[|\]$/g, ""));
  if (host === undefined) throw new ProviderAway(`${url.host} is no host.`);
  const resolved = await policy.resolve(host, signal);
  if (resolved.kind === "private")
    throw new ProviderAway(
      `${url.host} leads to a private network. An administrator can list the address under [network] allow_private.`,
    );
  if (resolved.kind === "unknown") throw new ProviderAway(`${resolved.reason}.`);
  try {
    return await exchange(url, { asking, hostname: hostText(host), addresses: resolved.addresses }, signal);
  } catch (error) {
    if (error instanceof ProviderAway) throw error;
    const reason = signal.aborted ? `no answer within ${limitMs} ms` : (error as Error).message;
    throw new ProviderAway(`${url.host} cannot be asked: ${reason}.`, { cause: error });
  }
}

interface Dialling {
  asking: Asking;
  hostname: string;
  addresses: string[];
}

function exchange(url: URL, { asking, hostname, addresses }: Dialling, signal: AbortSignal): Promise<Response> {
  const isSecure = url.protocol === "https:";
  return new Promise((resolve, reject) => {
    const sent = (isSecure ? secureRequest : plainRequest)({
      method: asking.method,
      hostname,
      port: url.port || (isSecure ? 443 : 80),
      path: `${url.pathname}${url.search}`,
      headers: { ...asking.headers, host: url.host, connection: "close" },
      lookup: checkedAddresses(addresses),
      agent: false,
      signal,
    });
    sent.once("error", reject);
    sent.once("response", (response) => readAnswer(response).then(resolve, reject));
    sent.end(asking.body);
  });
}

async function readAnswer(response: IncomingMessage): Promise<Response> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > mostAnswerBytes) throw new ProviderAway("The provider's answer is too long.");
    pieces.push(piece);
  }
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers))
    for (const one of [value ?? []].flat()) headers.append(name, one);
  const status = response.statusCode ?? 502;
  return new Response(status === 204 || status === 304 ? null : Buffer.concat(pieces), { status, headers });
}
