// HTTP requests to a provider: only to addresses that the network policy allows, no redirects, with a timeout.
import { type IncomingMessage, request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { hostText, readHost } from "@agentcli/workspace/hosts";
import { limitInterim } from "@agentcli/workspace/http";
import { checkedAddresses, type NetworkPolicy, privateAddressReason } from "../../foundation/index.ts";

export interface ProviderRequest {
  method: string;
  headers: Record<string, string>;
  body?: string | undefined;
}

export class ProviderUnreachable extends Error {
  override name = "ProviderAway";
}

const timeoutMs = 10_000;
const maxResponseBytes = 1024 * 1024;

/** Rejects with ProviderUnreachable; its message is for users. */
export async function guardedFetch(
  policy: NetworkPolicy,
  address: string,
  request: ProviderRequest,
): Promise<Response> {
  const signal = AbortSignal.timeout(timeoutMs);
  const url = new URL(address);
  const host = readHost(url.hostname.replace(/^\[|\]$/g, ""));
  if (host === undefined) throw new ProviderUnreachable(`Invalid host: ${url.host}.`);
  const resolved = await policy.resolve(host, signal);
  if (resolved.kind === "private") throw new ProviderUnreachable(`${privateAddressReason(url.host)}.`);
  if (resolved.kind === "unknown") throw new ProviderUnreachable(`${resolved.reason}.`);
  try {
    return await exchange(url, { request, hostname: hostText(host), addresses: resolved.addresses }, signal);
  } catch (error) {
    if (error instanceof ProviderUnreachable) throw error;
    const reason = signal.aborted ? `no response within ${timeoutMs} ms` : (error as Error).message;
    throw new ProviderUnreachable(`${url.host}: ${reason}.`, { cause: error });
  }
}

interface DialOptions {
  request: ProviderRequest;
  hostname: string;
  addresses: string[];
}

function exchange(url: URL, { request, hostname, addresses }: DialOptions, signal: AbortSignal): Promise<Response> {
  const isSecure = url.protocol === "https:";
  return new Promise((resolve, reject) => {
    const sent = (isSecure ? secureRequest : plainRequest)({
      method: request.method,
      hostname,
      port: url.port || (isSecure ? 443 : 80),
      path: `${url.pathname}${url.search}`,
      headers: { ...request.headers, host: url.host, connection: "close" },
      lookup: checkedAddresses(addresses),
      agent: false,
      signal,
    });
    limitInterim(sent);
    sent.once("error", reject);
    let hasResponse = false;
    // After 101 Node closes the connection without a response and without an error.
    sent.once("close", () => hasResponse || reject(new Error("it closed the connection without a response")));
    sent.once("response", (response) => {
      hasResponse = true;
      readResponse(response).then(resolve, reject);
    });
    sent.end(request.body);
  });
}

async function readResponse(response: IncomingMessage): Promise<Response> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > maxResponseBytes) throw new ProviderUnreachable("The provider's response is too long.");
    pieces.push(piece);
  }
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers))
    for (const one of [value ?? []].flat()) headers.append(name, one);
  const status = response.statusCode ?? 502;
  return new Response(status === 204 || status === 304 ? null : Buffer.concat(pieces), { status, headers });
}
