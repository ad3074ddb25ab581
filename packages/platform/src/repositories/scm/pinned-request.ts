// A request to a git host over HTTP, at an address that was checked before.
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { hostText } from "@agentcli/workspace/hosts";
import { limitInterim } from "@agentcli/workspace/http";
import { checkedAddresses, type NetworkPolicy } from "../../foundation/index.ts";
import { addressesOf } from "./pinned-address.ts";
import type { RepositoryUrl } from "./repository-url.ts";

const responseTimeoutMs = 15_000;

export interface PinnedRequest {
  /** With its query. */
  path: string;
  headers: Record<string, string>;
  policy: NetworkPolicy;
}

/** The caller reads or destroys the response. Throws RepositoryFault if the host must not be contacted. */
export async function sendPinned(
  url: RepositoryUrl,
  { path, headers, policy }: PinnedRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const options: RequestOptions = {
    host: hostText(url.host),
    port: url.port,
    path,
    headers: { "user-agent": "git/2 (platform)", ...headers },
    lookup: checkedAddresses((await addressesOf(url, policy, signal)).slice(0, 1)),
    signal: AbortSignal.any([signal, AbortSignal.timeout(responseTimeoutMs)]),
  };
  return new Promise((resolve, reject) => {
    const request = (url.scheme === "https" ? httpsRequest : httpRequest)(options, resolve);
    limitInterim(request);
    request.on("error", reject);
    // After 101 Node closes the connection without a response and without an error.
    request.on("close", () => reject(new Error("the host closed the connection without a response")));
    request.end();
  });
}
