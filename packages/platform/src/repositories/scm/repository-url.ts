// Parses repository URLs as users write them into one normalized form, or refuses them. Pure.
import { isIPv6 } from "node:net";
import { type Host, hostText, readTarget } from "@agentcli/workspace/hosts";

export interface RepositoryUrl {
  scheme: "http" | "https" | "ssh" | "git";
  host: Host;
  port: number;
  /** For ssh only. */
  user: string | undefined;
  /** With a leading slash, without a trailing one. */
  path: string;
}

export type ReadUrl = { kind: "url"; url: RepositoryUrl } | { kind: "refused"; reason: string };

const defaultPorts = { http: 80, https: 443, ssh: 22, git: 9418 };
const maxCharacters = 2048;

export function readRepositoryUrl(text: string): ReadUrl {
  if (text.length > maxCharacters) return refuse(`is longer than ${maxCharacters} characters`);
  // Git, curl, ssh and this parser could read these characters differently.
  if (/[^\x21-\x7e]|[\\'"`<>{}|^]/.test(text)) return refuse("has characters that are not allowed in an address");
  const fullUrl = withScheme(text);
  const [, scheme, rest = ""] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i.exec(fullUrl) ?? [];
  if (!isScheme(scheme)) return refuse("must begin with https://, http://, ssh:// or git://");
  const [, userInfo, authority = "", path = ""] = /^(?:([^/@]*)@)?([^/@?#]*)(.*)$/.exec(rest) ?? [];
  if (userInfo !== undefined && (scheme !== "ssh" || !/^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(userInfo)))
    return refuse("has credentials in it; leave them out");
  const target = readTarget(authority, defaultPorts[scheme]);
  if (target === undefined) return refuse(`names no host: "${authority}"`);
  const trimmedPath = path.replace(/\/+$/, "");
  const problem = checkPath(trimmedPath);
  if (problem) return refuse(problem);
  return { kind: "url", url: { scheme, ...target, user: userInfo, path: trimmedPath } };
}

const refuse = (reason: string): ReadUrl => ({ kind: "refused", reason });

const isScheme = (text: string | undefined): text is RepositoryUrl["scheme"] =>
  text !== undefined && Object.hasOwn(defaultPorts, text);

/** Accepts the scp-like form `git@host:path`, and `host.name/path`, which is how the API shows repositories. */
function withScheme(text: string): string {
  if (text.includes("://")) return text;
  const [, user, host, path] = /^(?:([^@/:]+)@)?([^@/:]+):(?!:)\/?([^/].*)$/.exec(text) ?? [];
  if (user !== undefined) return `ssh://${user}@${host}/${path}`;
  return /^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?\/./i.test(text) ? `https://${text}` : text;
}

function checkPath(path: string): string | undefined {
  if (!/^\/[^?#]+$/.test(path)) return "names no repository after the host";
  if (path.split("/").some((part) => part === "." || part === ".." || part.startsWith("-")))
    return 'has a path segment that is ".", ".." or starts with "-"';
  if (/%(?![0-9a-f]{2})|%(?:00|2e|2f|5c|0a|0d)/i.test(path))
    return "has a path with encoded characters that are not allowed";
  return path.slice(1).split("/").includes("") ? "has an empty part in its path" : undefined;
}

/** The URL that is passed to git, normalized: equal for two spellings of the same repository. */
export function urlText(url: RepositoryUrl, host = hostText(url.host)): string {
  const user = url.user === undefined ? "" : `${url.user}@`;
  return `${url.scheme}://${user}${isIPv6(host) ? `[${host}]` : host}${portText(url)}${url.path}`;
}

const portText = ({ port, scheme }: RepositoryUrl) => (port === defaultPorts[scheme] ? "" : `:${port}`);

/** Without scheme, user and `.git`: `github.com/o/r`, as the API shows repositories. */
export const shownUrl = (url: RepositoryUrl): string =>
  `${hostText(url.host)}${portText(url)}${url.path.replace(/\.git$/, "")}`;

/** The name for a directory that holds this repository. */
export const repositoryName = (url: RepositoryUrl): string =>
  decodeURIComponent(url.path)
    .split("/")
    .at(-1)
    ?.replace(/\.git$/, "")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[.-]+/, "") || "repository";
