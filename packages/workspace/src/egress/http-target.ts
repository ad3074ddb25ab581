// Reads the target of a proxied HTTP request, and which of its headers are forwarded. Pure.
import { hostText, readTarget, type Target } from "./hosts.ts";

export type HttpTarget =
  | { kind: "target"; target: Target; authority: string; path: string }
  | { kind: "bad"; reason: string }
  /** The URL names one host, the Host header another. */
  | { kind: "mismatch"; target: Target; header: string };

const httpPort = 80;

/** An absolute-form request: `GET http://host/path`. */
export function readAbsoluteUrl(url: string, rawHeaders: string[]): HttpTarget {
  const [, scheme, authority = "", rest = ""] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^#]*)$/i.exec(url) ?? [];
  if (scheme === undefined) return { kind: "bad", reason: "This is a proxy: send an absolute URL." };
  if (scheme.toLowerCase() !== "http") return { kind: "bad", reason: `Use CONNECT for ${scheme} URLs.` };
  const target = readTarget(authority, httpPort);
  if (target === undefined) return { kind: "bad", reason: `Invalid host: "${authority}".` };
  const hosts = valuesOf(rawHeaders, "host");
  const other = hosts.find((host) => !isSame(readTarget(host, httpPort), target));
  if (other !== undefined || hosts.length > 1) return { kind: "mismatch", target, header: hosts.join(", ") };
  return { kind: "target", target, authority, path: rest.startsWith("/") ? rest : `/${rest}` };
}

const isSame = (one: Target | undefined, other: Target): boolean =>
  one !== undefined && one.port === other.port && hostText(one.host) === hostText(other.host);

/** Headers of one connection, not of the request. */
const hopByHop = new Set([
  ...["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"],
  ...["te", "trailer", "upgrade", "expect"],
]);

/** Names and values alternate, as in Node. Drops `without`, hop-by-hop headers, and those listed in Connection. */
export function endToEnd(rawHeaders: string[], without: string[]): string[] {
  const listed = valuesOf(rawHeaders, "connection").flatMap((value) => value.toLowerCase().split(/\s*,\s*/));
  const dropped = new Set([...hopByHop, ...listed, ...without]);
  return pairsOf(rawHeaders).flatMap(([name, value]) => (dropped.has(name.toLowerCase()) ? [] : [name, value]));
}

const valuesOf = (rawHeaders: string[], header: string): string[] =>
  pairsOf(rawHeaders).flatMap(([name, value]) => (name.toLowerCase() === header ? [value] : []));

const pairsOf = (rawHeaders: string[]): [name: string, value: string][] =>
  rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""]] : []));
