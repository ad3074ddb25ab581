// Recognizes URLs of repositories on GitHub, and builds those for the web and for git. Pure.
import { hostText } from "@agentcli/workspace/hosts";
import { type RepositoryUrl, readRepositoryUrl } from "../repository-url.ts";

export interface RepositoryName {
  owner: string;
  repo: string;
}

/** The origin for browsers and git that belongs to the API at `baseUrl`. */
export function webOrigin(baseUrl: string): URL {
  const web = new URL(baseUrl);
  const isCloud = web.pathname === "/" && web.hostname.startsWith("api.");
  web.hostname = isCloud ? web.hostname.slice("api.".length) : web.hostname;
  return new URL(web.origin);
}

/** Undefined if the URL is on another host or does not have the form owner/repo; git may still accept it. */
export function readGithubName(url: RepositoryUrl, web: URL): RepositoryName | undefined {
  const [owner, name, ...more] = url.path.slice(1).split("/");
  const repo = name?.replace(/\.git$/, "");
  if (!owner || !repo || more.length > 0 || !/^[\w.-]+$/.test(owner + repo)) return undefined;
  return isOnHost(url, web) ? { owner, repo } : undefined;
}

function isOnHost({ scheme, host, port }: RepositoryUrl, web: URL): boolean {
  const names = [web.hostname.replace(/^\[|\]$/g, ""), ...(web.hostname === "github.com" ? ["ssh.github.com"] : [])];
  if (!names.includes(hostText(host))) return false;
  // Ports of other protocols differ; the repository is the same.
  if (scheme === "ssh" || scheme === "git") return true;
  return port === portOf(web) || (web.port === "" && port === { http: 80, https: 443 }[scheme]);
}

const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === "https:" ? 443 : 80));

/** The URL that git uses with a token. */
export function githubUrl({ owner, repo }: RepositoryName, web: URL): RepositoryUrl {
  const read = readRepositoryUrl(`${web.origin}/${owner}/${repo}.git`);
  if (read.kind === "refused") throw new Error(`${web.origin} ${read.reason}`);
  return read.url;
}
