// The address that a server advertises to the others: the configured one, else the one it listens on. One of loopback says
// which loopback it is of, because the others send the credentials of clients there.
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** One that listens on all addresses is reached by the name of its machine. */
export function reachableUrl(serverUrl: string, configured: string | null, own = loopbackId()): string {
  const { protocol, hostname: host, port } = new URL(configured ?? serverUrl);
  const isEvery = host === "0.0.0.0" || host === "[::]";
  const url = configured ?? `${protocol}//${isEvery ? hostname() : host}${port === "" ? "" : `:${port}`}`;
  return isLoopback(host) ? `${url}#${own}` : url;
}

/** Null if it is an address of loopback on another machine, or in another network namespace of this one. */
export function addressFrom(advertised: string, own = loopbackId()): string | null {
  const [address = "", loopback] = advertised.split("#");
  return loopback === undefined || loopback === own ? address : null;
}

const isLoopback = (host: string): boolean => host === "localhost" || host === "[::1]" || /^127\./.test(host);

/** Processes with the same one reach each other at 127.0.0.1. */
function loopbackId(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot}.${readlinkSync("/proc/self/ns/net").replace(/\D/g, "")}`;
  } catch {
    return hostname();
  }
}
