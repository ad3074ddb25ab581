// The host that a credential is for, in one normalized form. Pure.
import { isIPv6 } from "node:net";
import type { CredentialKind } from "@agentcli/protocol/api";
import { hostText, readTarget } from "@agentcli/workspace/hosts";
import type { RepositoryUrl } from "../scm/index.ts";

export type ReadHost = { kind: "host"; host: string } | { kind: "refused"; reason: string };

const isSsh = (kind: CredentialKind): boolean => kind === "ssh_key" || kind === "known_hosts";

/** Without TLS only if the text says so: a token would be readable on its way. */
export function readCredentialHost(text: string, kind: CredentialKind): ReadHost {
  const refuse = (reason: string): ReadHost => ({ kind: "refused", reason });
  const [, scheme = isSsh(kind) ? "ssh" : "https", rest = ""] = /^(?:([a-z]+):\/\/)?([^/]*)\/?$/i.exec(text) ?? [];
  const schemes = isSsh(kind) ? ["ssh"] : ["https", "http"];
  if (rest === "") return refuse("must be HOST or HOST:PORT, without a path");
  if (rest.includes("@")) return refuse("must not have a user name in it");
  if (!schemes.includes(scheme))
    return refuse(`must be HOST, or begin with ${schemes.map((one) => `${one}://`).join(" or ")}`);
  const target = readTarget(rest, defaultPorts[scheme]);
  if (target === undefined) return refuse("is not a host");
  return { kind: "host", host: nameOf(scheme, target) };
}

/** Undefined for git://, which has no credentials. */
export const credentialHost = (url: RepositoryUrl): string | undefined =>
  url.scheme === "git" ? undefined : nameOf(url.scheme, url);

/** The name and port of a host that is used over ssh. */
export function sshHost(host: string): { name: string; port: number } {
  const target = readTarget(host, defaultPorts.ssh);
  if (target === undefined) throw new Error(`${host} cannot be the host of a credential`);
  return { name: hostText(target.host), port: target.port };
}

const defaultPorts: Record<string, number> = { https: 443, http: 80, ssh: 22 };

function nameOf(scheme: string, { host, port }: Pick<RepositoryUrl, "host" | "port">): string {
  const text = hostText(host);
  const name = isIPv6(text) ? `[${text}]` : text;
  return `${scheme === "http" ? "http://" : ""}${name}${port === defaultPorts[scheme] ? "" : `:${port}`}`;
}
