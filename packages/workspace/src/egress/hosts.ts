// Normalizes hosts and ports, or refuses them. Pure.
import { isIPv4, isIPv6 } from "node:net";

/** Names are lower case without a final dot; addresses are in their shortest form, IPv4 never as mapped IPv6. */
export type Host = { kind: "name"; name: string } | { kind: "address"; address: string };

export interface Target {
  host: Host;
  port: number;
}

export const hostText = (host: Host): string => (host.kind === "name" ? host.name : host.address);

/** `host:port` as CONNECT has it; `host` alone where there is a default port. */
export function readTarget(authority: string, defaultPort?: number): Target | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(authority) ?? [];
  const host = bracketed === undefined ? readHost(plain ?? "") : readIPv6(bracketed);
  const port = digits === undefined ? defaultPort : Number(digits);
  if (host === undefined || port === undefined || port < 1 || port > 65_535) return undefined;
  return { host, port };
}

/** A name or an address, IPv6 without brackets. Undefined for anything that two parsers could read differently. */
export function readHost(text: string): Host | undefined {
  if (text.includes(":")) return readIPv6(text);
  const name = text.toLowerCase().replace(/\.$/, "");
  const labels = name.split(".");
  // Resolvers accept 0x7f.1, 2130706433 and 0177.0.0.1 as addresses; here only dotted decimal is one.
  if (isNumber(labels.at(-1) ?? "")) return isIPv4(name) ? { kind: "address", address: name } : undefined;
  return name.length <= 253 && labels.every(isLabel) ? { kind: "name", name } : undefined;
}

function readIPv6(text: string): Host | undefined {
  // A zone names an interface of the resolving machine.
  if (text.includes("%") || !isIPv6(text)) return undefined;
  const shortest = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  return { kind: "address", address: embeddedIPv4(shortest, "::ffff:") ?? shortest };
}

/** The last 32 bits of an address in shortest form, if it has this prefix. */
export function embeddedIPv4(address: string, prefix: string): string | undefined {
  if (!address.startsWith(prefix)) return undefined;
  const [, high, low] = /^(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,4})$/.exec(address.slice(prefix.length)) ?? [];
  if (low === undefined) return undefined;
  const [first, second] = [Number.parseInt(high ?? "0", 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join(".");
}

const isNumber = (label: string) => /^(?:\d+|0x[0-9a-f]*)$/.test(label);

const isLabel = (label: string) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label);
