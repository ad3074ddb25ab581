// Reads lines of known_hosts that a team gives for one host, and keeps what ssh needs of them. Pure.
import { createHmac } from "node:crypto";
import { fingerprintOf } from "./private-key.ts";
import { readSsh } from "./ssh-strings.ts";

export interface HostKey {
  marker: "" | "@cert-authority" | "@revoked";
  algorithm: string;
  /** In base64. */
  key: string;
  fingerprint: string;
}

export interface HostName {
  name: string;
  port: number;
}

export type ReadKnownHosts = { kind: "keys"; keys: HostKey[] } | { kind: "refused"; reason: string };

/** Every line must be for this host: one of another host would have no effect. */
export function readKnownHosts(text: string, host: HostName): ReadKnownHosts {
  const keys: HostKey[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const read = readLine(trimmed, host);
    if (typeof read === "string") return { kind: "refused", reason: `line ${index + 1} ${read}` };
    keys.push(read);
  }
  if (keys.length === 0) return { kind: "refused", reason: "it has no key" };
  return { kind: "keys", keys };
}

/** For ssh with `name` as HostKeyAlias. */
export const knownHostsText = (name: string, keys: HostKey[]): string =>
  keys.map(({ marker, algorithm, key }) => `${[marker, name, algorithm, key].filter(Boolean).join(" ")}\n`).join("");

/** The lines for this host with the key of this fingerprint; undefined if there is none. */
export function selectHostKey(text: string, host: HostName, fingerprint: string): string | undefined {
  const read = readKnownHosts(text, host);
  const keys = read.kind === "keys" ? read.keys.filter((key) => key.fingerprint === fingerprint) : [];
  return keys.length === 0 ? undefined : knownHostsText(host.name, keys);
}

/** The key, or what is wrong with the line. */
function readLine(line: string, host: HostName): HostKey | string {
  const words = line.split(/[ \t]+/);
  const marker = words[0]?.startsWith("@") ? (words.shift() ?? "") : "";
  if (marker !== "" && marker !== "@cert-authority" && marker !== "@revoked")
    return `has the unknown marker ${marker.slice(0, 40)}`;
  const [names = "", algorithm = "", key = ""] = words;
  const blob = /^[A-Za-z0-9+/]+={0,2}$/.test(key) ? Buffer.from(key, "base64") : undefined;
  if (blob === undefined || !isKeyOf(blob, algorithm)) return "is not HOST TYPE KEY, as ssh-keyscan prints it";
  if (!matches(names, host)) return `is for ${names.slice(0, 100)}, not for ${hostKeyName(host)}`;
  return { marker, algorithm, key: blob.toString("base64"), fingerprint: fingerprintOf(blob) };
}

function isKeyOf(blob: Buffer, algorithm: string): boolean {
  const reader = readSsh(blob);
  try {
    if (!/^[a-z0-9@.-]{1,64}$/.test(algorithm) || reader.string().toString("latin1") !== algorithm) return false;
    // Public keys consist of strings; one that was cut off does not end with a whole one.
    while (!reader.isAtEnd()) reader.string();
    return true;
  } catch {
    return false;
  }
}

/** As ssh writes the host: with the port in brackets unless it is 22. */
const hostKeyName = ({ name, port }: HostName): string => (port === 22 ? name : `[${name}]:${port}`);

function matches(names: string, host: HostName): boolean {
  const candidates = [hostKeyName(host), host.name];
  const hashed = /^\|1\|([A-Za-z0-9+/=]+)\|([A-Za-z0-9+/=]+)$/.exec(names);
  if (hashed) return candidates.some((name) => hashOf(name, hashed[1] ?? "") === hashed[2]);
  const patterns = names.toLowerCase().split(",");
  const isExcluded = patterns.some((one) => one.startsWith("!") && candidates.some((name) => fits(one.slice(1), name)));
  return !isExcluded && patterns.some((one) => candidates.some((name) => fits(one, name)));
}

const hashOf = (name: string, salt: string): string =>
  createHmac("sha1", Buffer.from(salt, "base64")).update(name).digest("base64");

function fits(pattern: string, name: string): boolean {
  const parts = pattern.replace(/\*+/g, "*").split("*");
  // With many stars a line could take very long to match.
  if (parts.length > 4) return false;
  const escaped = parts.map((part) => part.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("?", "."));
  return new RegExp(`^${escaped.join(".*")}$`).test(name);
}
