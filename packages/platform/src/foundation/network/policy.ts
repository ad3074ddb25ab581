// Public addresses may be dialled, and private ones only where they are listed. A name is resolved once and then dialled
// at the very address that was checked, so that a second answer of the resolver changes nothing.
import { BlockList, isIPv4 } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { isOwn, isPublic } from "@agentcli/workspace/addresses";
import { type Host, readHost } from "@agentcli/workspace/hosts";
import { resolveName } from "@agentcli/workspace/names";

export interface NetworkPolicy {
  /** Never rejects: what is wrong with a host is an answer. */
  resolve(host: Host, signal: AbortSignal): Promise<Resolved>;
}

export type Resolved =
  | { kind: "addresses"; addresses: string[] }
  /** At least one of its addresses is of this machine or a private network, and may not be dialled. */
  | { kind: "private" }
  | { kind: "unknown"; reason: string };

/** The message for kind `private`, without a full stop: `what` names the address as its author wrote it. */
export const privateAddressReason = (what: string): string =>
  `${what} resolves to a private address; an administrator can list it under [network] allow_private`;

export interface NetworkPolicyOptions {
  /** CIDR ranges. */
  allowPrivate: string[];
  /** Every address of a name. */
  resolve?: (name: string, signal: AbortSignal) => Promise<string[]>;
}

const resolveLimitMs = 10_000;

export function openNetworkPolicy({ allowPrivate, resolve = resolveName }: NetworkPolicyOptions): NetworkPolicy {
  const allowed = readRanges(allowPrivate, "allow_private");
  const isListed = (address: string) => allowed.check(address, familyOf(address));
  const mayDial = (address: string) => isListed(address) || (isPublic(address) && !isOwn(address));
  /** One forbidden address makes the name forbidden, unless another of its addresses is listed: localhost has two. */
  const judge = (addresses: string[]): Resolved => {
    const open = addresses.filter(mayDial);
    const isGood = open.length === addresses.length || open.some(isListed);
    return open.length > 0 && isGood ? { kind: "addresses", addresses: open } : { kind: "private" };
  };
  return {
    async resolve(host, signal) {
      if (host.kind === "address") return judge([host.address]);
      try {
        return judge((await withinLimit(resolve(host.name, signal), signal)).flatMap(plainAddress));
      } catch (error) {
        if (isLocalName(host.name)) return { kind: "private" };
        return { kind: "unknown", reason: `${host.name} could not be resolved: ${(error as Error).message}` };
      }
    },
  };
}

/** Names that no public server has: of this machine, its network, or without a domain. */
const isLocalName = (name: string): boolean =>
  /^[^.]+$|\.(?:localhost|localdomain|local|internal|home\.arpa|lan)$/.test(name);

export class BadAddressRange extends Error {
  constructor(text: string, setting: string) {
    super(`"${text}" in ${setting} is not a range of addresses. Write one like 10.0.0.0/8 or fd00::/8.`);
    this.name = "BadAddressRange";
  }
}

/** `setting` is for the message. */
export function readRanges(ranges: string[], setting: string): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [, network = "", bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(range.trim()) ?? [];
    const host = readHost(network);
    const most = host?.kind === "address" && isIPv4(host.address) ? 32 : 128;
    if (host?.kind !== "address" || Number(bits ?? most) > most) throw new BadAddressRange(range, setting);
    list.addSubnet(host.address, Number(bits ?? most), familyOf(host.address));
  }
  return list;
}

const familyOf = (address: string) => (isIPv4(address) ? "ipv4" : "ipv6");

/** In the shortest form, IPv4 never dressed as IPv6. */
function plainAddress(text: string): string[] {
  const host = readHost(text);
  return host?.kind === "address" ? [host.address] : [];
}

async function withinLimit<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = new AbortController();
  const limit = pause(resolveLimitMs, undefined, { signal: AbortSignal.any([signal, over.signal]) }).then(() => {
    throw new Error(`no answer within ${resolveLimitMs} ms`);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    over.abort();
    limit.catch(() => {});
  }
}
