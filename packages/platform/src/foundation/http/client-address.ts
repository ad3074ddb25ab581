// The address a request comes from, as limits count it: behind a trusted proxy the one that the proxy names.
import type { IncomingMessage } from "node:http";
import { type BlockList, isIPv4, type Socket } from "node:net";
import { readHost } from "@agentcli/workspace/hosts";

/** An IPv4 address, the first 64 bits of an IPv6 address, or this machine: a client usually has all addresses below them. */
export function clientAddress({ socket, headers }: IncomingMessage, trustedProxies: BlockList): string {
  const peer = plainAddress(socket.remoteAddress ?? "");
  if (peer === null) return "unknown";
  return countedAddress(isTrusted(peer, trustedProxies) ? forwardedFor(headers, peer, trustedProxies) : peer);
}

/** Of a connection, before it has sent anything; null for a trusted proxy, which has those of many clients. */
export function connectionAddress({ remoteAddress = "" }: Socket, trustedProxies: BlockList): string | null {
  const peer = plainAddress(remoteAddress);
  return peer === null || isTrusted(peer, trustedProxies) ? null : countedAddress(peer);
}

/**
 * Each proxy appends the address it was reached from. From the right, the first that is not a trusted proxy is the
 * client; whatever is left of it was sent by the client.
 */
function forwardedFor(headers: IncomingMessage["headers"], peer: string, trustedProxies: BlockList): string {
  let client = peer;
  for (const text of [headers["x-forwarded-for"] ?? []].flat().join(",").split(",").reverse()) {
    const address = plainAddress(text.trim());
    if (address === null) return client;
    client = address;
    if (!isTrusted(address, trustedProxies)) return client;
  }
  return client;
}

const isTrusted = (address: string, trustedProxies: BlockList): boolean =>
  trustedProxies.check(address, isIPv4(address) ? "ipv4" : "ipv6");

/** In the shortest form, without port and zone; IPv4 within IPv6 as IPv4. */
function plainAddress(text: string): string | null {
  const [, bracketed, withPort] = /^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text) ?? [];
  const host = readHost((bracketed ?? withPort ?? text).replace(/%.*$/, ""));
  return host?.kind === "address" ? host.address : null;
}

function countedAddress(address: string): string {
  // A process of this machine has all of these.
  if (address === "::1" || (isIPv4(address) && address.startsWith("127."))) return "loopback";
  if (isIPv4(address)) return address;
  const [left = "", right] = address.split("::");
  const start = left === "" ? [] : left.split(":");
  const end = right === undefined || right === "" ? [] : right.split(":");
  const zeros = right === undefined ? [] : Array<string>(Math.max(0, 8 - start.length - end.length)).fill("0");
  return `${[...start, ...zeros, ...end].slice(0, 4).join(":")}::/64`;
}
