// Follows HTTP redirects of a repository that has moved. Each target is checked before it is contacted.
import { request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIPv6 } from "node:net";
import { hostText } from "@agentcli/workspace/hosts";
import type { NetworkPolicy } from "../../foundation/index.ts";
import { addressesOf } from "./pinned-address.ts";
import { type RepositoryUrl, readRepositoryUrl, urlText } from "./repository-url.ts";

const infoRefsPath = "/info/refs?service=git-upload-pack";
const maxRedirects = 5;
const responseTimeoutMs = 15_000;

/** Sent to this origin only: some hosts redirect authenticated clients only. */
export interface Authorization {
  origin: string;
  value: string;
}

export interface RedirectOptions {
  policy: NetworkPolicy;
  authorization: Authorization | undefined;
}

/** Undefined if the repository has not moved, or if a redirect target is not a repository URL. */
export async function followRedirects(
  url: RepositoryUrl,
  options: RedirectOptions,
  signal: AbortSignal,
): Promise<RepositoryUrl | undefined> {
  let current = url;
  for (let redirects = 0; redirects < maxRedirects; redirects += 1) {
    const location = await requestLocation(current, options, signal);
    if (location === undefined) return current === url ? undefined : current;
    const next = readRedirect(current, location);
    if (next === undefined) return undefined;
    current = next;
  }
  return undefined;
}

/** Never from https to http. */
function readRedirect(from: RepositoryUrl, location: string): RepositoryUrl | undefined {
  const target = URL.canParse(location, urlText(from)) ? new URL(location, urlText(from)).href : "";
  if (!target.endsWith(infoRefsPath)) return undefined;
  const read = readRepositoryUrl(target.slice(0, -infoRefsPath.length));
  if (read.kind === "refused" || !/^https?$/.test(read.url.scheme)) return undefined;
  return from.scheme === "https" && read.url.scheme === "http" ? undefined : read.url;
}

async function requestLocation(
  url: RepositoryUrl,
  { policy, authorization }: RedirectOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const isSameOrigin = authorization !== undefined && new URL(urlText(url)).origin === authorization.origin;
  const [address = ""] = await addressesOf(url, policy, signal);
  const options: RequestOptions = {
    host: hostText(url.host),
    port: url.port,
    path: `${url.path}${infoRefsPath}`,
    headers: { "user-agent": "git/2 (platform)", ...(isSameOrigin && { authorization: authorization.value }) },
    // The address was checked above; no second DNS lookup.
    lookup: (_name, { all }, done) => {
      const family = isIPv6(address) ? 6 : 4;
      if (all) done(null, [{ address, family }]);
      else done(null, address, family);
    },
    signal: AbortSignal.any([signal, AbortSignal.timeout(responseTimeoutMs)]),
  };
  return new Promise((resolve, reject) => {
    const request = (url.scheme === "https" ? httpsRequest : httpRequest)(options, (response) => {
      const isRedirect = [301, 302, 303, 307, 308].includes(response.statusCode ?? 0);
      resolve(isRedirect ? response.headers.location : undefined);
      response.destroy();
    });
    request.on("error", reject);
    request.end();
  });
}
