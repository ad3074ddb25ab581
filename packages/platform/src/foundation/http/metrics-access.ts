// Access to the metrics: by token; without one configured, for programs on this machine that connect directly.
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { ApiError } from "./api-error.ts";

export interface MetricsAccess {
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
export function checkMetricsReader({ token, publicUrl }: MetricsAccess, { address, headers }: Peer): void {
  if (token !== null) {
    if (isSame(headers.authorization ?? "", `Bearer ${token}`)) return;
    throw new ApiError("unauthorized", "The metrics need the token of [metrics] token_env as a bearer token.");
  }
  // A proxy on this machine, or a DNS rebinding page, connects from here too.
  const isAskedHere = isLocal(headers.host === undefined ? null : `http://${headers.host}`);
  if (isLoopback(address) && !isForwarded(headers) && isAskedHere && isLocal(publicUrl)) return;
  throw new ApiError(
    "unauthorized",
    "Without a token the metrics are for this machine only. Set one with [metrics] token_env.",
  );
}

/** Hashed first: of unequal lengths nothing may be learned either. */
const isSame = (actual: string, expected: string): boolean => timingSafeEqual(sha256(actual), sha256(expected));
const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();

const isLoopback = (address = ""): boolean => /^(?:::ffff:)?127\.|^::1$/.test(address);

const isForwarded = (headers: IncomingHttpHeaders): boolean =>
  Object.keys(headers).some((name) => /^(?:forwarded|via|x-real-ip|x-forwarded-.+)$/.test(name));

const isLocal = (url: string | null): boolean =>
  url === null || (URL.canParse(url) && /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname));
