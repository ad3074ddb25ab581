// Which addresses are of repositories on GitHub, and where that is for people and for git. Pure.
import { hostText } from "@agentcli/workspace/hosts";
import { type RepositoryUrl, readRepositoryUrl } from "../repository-url.ts";

export interface RepositoryName {
  owner: string;
  repo: string;
}

/** Where people and git find what the API at `baseUrl` is about. */
export function webOrigin(baseUrl: string): URL {
  const web = new URL(baseUrl);
  const isCloud = web.pathname === "/" && web.hostname.startsWith("api.");
  web.hostname = isCloud ? web.hostname.slice("api.".length) : web.hostname;
  return new URL(web.origin);
}

/** Undefined where it is not there, or is no repository: git may know what to do with it all the same. */
export function readGithubName(url: RepositoryUrl, web: URL): RepositoryName | undefined {
  const [owner, name, ...more] = url.path.slice(1).split("/");
  const repo = name?.replace(/\.git$/, "");
  if (!owner || !repo || more.length > 0 || !/^[\w.-]+$/.test(owner + repo)) return undefined;
  return isThere(url, web) ? { owner, repo } : undefined;
}

function isThere({ scheme, host, port }: RepositoryUrl, web: URL): boolean {
  const names = [web.hostname.replace(/^\[|\]$/g, ""), ...(web.hostname === "github.com" ? ["ssh.github.com"] : [])];
  if (!names.includes(hostText(host))) return false;
  // Other protocols have ports of their own; the repository is the same.
  if (scheme === "ssh" || scheme === "git") return true;
  return port === portOf(web) || (web.port === "" && port === { http: 80, https: 443 }[scheme]);
}

const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === "https:" ? 443 : 80));

/** As git reaches it with a token. */
export function githubUrl({ owner, repo }: RepositoryName, web: URL): RepositoryUrl {
  const read = readRepositoryUrl(`${web.origin}/${owner}/${repo}.git`);
  if (read.kind === "refused") throw new Error(`${web.origin} ${read.reason}`);
  return read.url;
}
