// Which headers pass the proxy, in both directions.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

/** Of one connection, so they do not pass. */
const hopByHop = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
];

/** Credentials of the client, and what would tell the upstream about this machine. */
const ofClient = ["authorization", "cookie", "host", "api-key", "x-api-key", "forwarded", "via", "accept-encoding"];

/** What a client of a loopback address has no use for. */
const ofUpstream = ["set-cookie", "strict-transport-security", "alt-svc", "www-authenticate", "location"];

export function requestHeaders(headers: IncomingHttpHeaders, authorization: string): OutgoingHttpHeaders {
  // Uncompressed: the proxy looks for its key in what comes back.
  return { ...pass(headers, ofClient, /^x-forwarded-/), authorization, "accept-encoding": "identity" };
}

export const responseHeaders = (headers: IncomingHttpHeaders, key: string): OutgoingHttpHeaders =>
  Object.fromEntries(
    Object.entries(pass(headers, ofUpstream, /^proxy-/)).filter(([, value]) => !String(value).includes(key)),
  );

function pass(headers: IncomingHttpHeaders, dropped: string[], alsoDropped: RegExp): OutgoingHttpHeaders {
  const named = String(headers.connection ?? "")
    .toLowerCase()
    .split(/\s*,\s*/);
  const stopped = new Set([...hopByHop, ...dropped, ...named]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !stopped.has(name) && !alsoDropped.test(name)));
}
