// Where a repository has moved to: redirections are followed here, each place checked before it is asked.
import { request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIPv6 } from "node:net";
import { hostText } from "@agentcli/workspace/hosts";
import type { NetworkPolicy } from "../network/index.ts";
import { addressesOf } from "./pinned.ts";
import { type RepositoryUrl, readRepositoryUrl, urlText } from "./repository-url.ts";

const question = "/info/refs?service=git-upload-pack";
const mostMoves = 5;
const answerLimitMs = 15_000;

/** Said at this place only: some hosts tell nobody else where a repository has gone. */
export interface Authorization {
  origin: string;
  value: string;
}

export interface Way {
  policy: NetworkPolicy;
  authorization: Authorization | undefined;
}

/** Undefined where it is still there, or where the way ends at a place that is no repository. */
export async function findMoved(url: RepositoryUrl, way: Way, signal: AbortSignal): Promise<RepositoryUrl | undefined> {
  let here = url;
  for (let moves = 0; moves < mostMoves; moves += 1) {
    const location = await askLocation(here, way, signal);
    if (location === undefined) return here === url ? undefined : here;
    const next = readMove(here, location);
    if (next === undefined) return undefined;
    here = next;
  }
  return undefined;
}

/** Never from an encrypted place to one that is not. */
function readMove(from: RepositoryUrl, location: string): RepositoryUrl | undefined {
  const target = URL.canParse(location, urlText(from)) ? new URL(location, urlText(from)).href : "";
  if (!target.endsWith(question)) return undefined;
  const read = readRepositoryUrl(target.slice(0, -question.length));
  if (read.kind === "refused" || !/^https?$/.test(read.url.scheme)) return undefined;
  return from.scheme === "https" && read.url.scheme === "http" ? undefined : read.url;
}

async function askLocation(
  url: RepositoryUrl,
  { policy, authorization }: Way,
  signal: AbortSignal,
): Promise<string | undefined> {
  const isKnown = authorization !== undefined && new URL(urlText(url)).origin === authorization.origin;
  const [address = ""] = await addressesOf(url, policy, signal);
  const options: RequestOptions = {
    host: hostText(url.host),
    port: url.port,
    path: `${url.path}${question}`,
    headers: { "user-agent": "git/2 (platform)", ...(isKnown && { authorization: authorization.value }) },
    // The address was checked; nobody is asked a second time.
    lookup: (_name, { all }, done) => {
      const family = isIPv6(address) ? 6 : 4;
      if (all) done(null, [{ address, family }]);
      else done(null, address, family);
    },
    signal: AbortSignal.any([signal, AbortSignal.timeout(answerLimitMs)]),
  };
  return new Promise((resolve, reject) => {
    const request = (url.scheme === "https" ? httpsRequest : httpRequest)(options, (response) => {
      const isMove = [301, 302, 303, 307, 308].includes(response.statusCode ?? 0);
      resolve(isMove ? response.headers.location : undefined);
      response.destroy();
    });
    request.on("error", reject);
    request.end();
  });
}
