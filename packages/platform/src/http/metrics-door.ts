// Who may read the metrics: whoever has the token; without one, programs on this machine that ask the server themselves.
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { ApiProblem } from "./problem.ts";

export interface MetricsDoor {
  /** Null: none was set. */
  token: string | null;
  /** Null: the address served on. */
  publicUrl: string | null;
}

export interface Peer {
  address: string | undefined;
  headers: IncomingHttpHeaders;
}

/** Throws `unauthorized`. */
export function checkMetricsReader({ token, publicUrl }: MetricsDoor, { address, headers }: Peer): void {
  if (token !== null) {
    if (isSame(headers.authorization ?? "", `Bearer ${token}`)) return;
    throw new ApiProblem("unauthorized", "The metrics need the token of [metrics] token_env as a bearer token.");
  }
  // Behind a proxy on this machine everybody comes from here; so do pages whose name was made to lead here.
  const isAskedHere = isLocal(headers.host === undefined ? null : `http://${headers.host}`);
  if (isLoopback(address) && !isForwarded(headers) && isAskedHere && isLocal(publicUrl)) return;
  throw new ApiProblem(
    "unauthorized",
    "Without a token the metrics are for this machine only. Set one with [metrics] token_env.",
  );
}

/** Hashed first: of unequal lengths nothing may be learned either. */
const isSame = (given: string, wanted: string): boolean => timingSafeEqual(sha256(given), sha256(wanted));
const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();

const isLoopback = (address = ""): boolean => /^(?:::ffff:)?127\.|^::1$/.test(address);

const isForwarded = (headers: IncomingHttpHeaders): boolean =>
  Object.keys(headers).some((name) => /^(?:forwarded|via|x-real-ip|x-forwarded-.+)$/.test(name));

const isLocal = (url: string | null): boolean =>
  url === null || (URL.canParse(url) && /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname));
