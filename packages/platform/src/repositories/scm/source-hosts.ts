// Finds the host of a repository, and rejects repositories that no agent may access when an agent is created.
import { hostText } from "@agentcli/workspace/hosts";
import { type AgentRepository, ApiError, privateAddressReason, type Slots } from "../../foundation/index.ts";
import { RepositoryFault } from "../git/index.ts";
import type { AccessRules } from "./access.ts";
import type { Github } from "./github/host.ts";
import type { HostCredentials } from "./host-credentials.ts";
import type { PinOptions } from "./pinned-address.ts";
import { plainGitHost } from "./plain-git.ts";
import { isReference, readPullRequestUrl } from "./reference.ts";
import { type RepositoryUrl, readRepositoryUrl, repositoryName, shownUrl, urlText } from "./repository-url.ts";
import type { SourceHost } from "./source-host.ts";

export interface SourceHosts {
  /** Throws ApiError: `validation_error` for malformed input, `repository_access` if the team's agents may not access it. */
  check(teamId: number, repositories: AgentRepository[], signal: AbortSignal): Promise<void>;
  /** Those that the administrator has neither blocked nor reserved for another team. */
  allowed(teamId: number, urls: string[]): Promise<string[]>;
  /** Throws RepositoryFault if the team has no access to such a repository. */
  open(teamId: number, url: string): Promise<SourceHost>;
  /** The same text for all spellings of a repository URL. */
  canonical(url: string): string;
  /** Without scheme: `github.com/o/r`. */
  shown(url: string): string;
  directoryName(url: string): string;
  /** The host whose user accounts apply: `github.com`, with the port if it is not the default of http(s). */
  hostOf(url: string): string;
  /** Undefined if `prUrl` is not a pull request of the repository. */
  pullRequestNumber(prUrl: string, url: string): number | undefined;
}

/** Repositories on the embedded git host. */
export interface OwnRepositories {
  /** The repository name in a URL of the embedded git host; undefined for other URLs. */
  nameOf(url: string): Promise<string | undefined>;
  /** Undefined if the team has no repository of that name. */
  open(teamId: number, name: string): Promise<SourceHost | undefined>;
}

export interface SourceHostsOptions extends PinOptions {
  own: OwnRepositories;
  rules: AccessRules;
  /** Null if GitHub access is not configured. */
  github: Github | null;
  /** Of a team. Without them, git authenticates to no other host than GitHub. */
  credentialsOf?(teamId: number): HostCredentials;
  /** Git processes of each team that wait for such hosts; no limit without it. */
  slots?: Slots;
}

export function openSourceHosts(options: SourceHostsOptions): SourceHosts {
  return {
    async check(teamId, repositories, signal) {
      const urls = repositories.map((repository, index) => checkShape(repository, `repos[${index}]`));
      // Some hosts are case-sensitive, but on none do two repositories differ only in case.
      const names = urls.map((url) => shownUrl(url).toLowerCase());
      const duplicate = names.findIndex((name, index) => names.indexOf(name) < index);
      if (duplicate >= 0)
        throw new ApiError("validation_error", `repos[${duplicate}].url is a duplicate of an earlier one in repos.`);
      for (const [index, url] of urls.entries())
        await checkAccess({ teamId, url, where: `repos[${index}].url` }, options, signal);
    },
    async allowed(teamId, urls) {
      const refusals = await Promise.all(urls.map((url) => options.rules.refusal(teamId, parseStoredUrl(url))));
      return urls.filter((_url, index) => refusals[index] === undefined);
    },
    open: async (teamId, text) => limitReach(await openHost(teamId, text), teamId, options.slots),
    canonical: (url) => urlText(parseStoredUrl(url)),
    shown: (url) => shownUrl(parseStoredUrl(url)),
    hostOf: (url) => hostOf(parseStoredUrl(url)),
    directoryName: (url) => repositoryName(parseStoredUrl(url)),
    pullRequestNumber: (prUrl, url) => readPullRequestUrl(prUrl, parseStoredUrl(url)),
  };

  async function openHost(teamId: number, text: string): Promise<SourceHost> {
    const url = parseStoredUrl(text);
    const name = await options.own.nameOf(urlText(url));
    const refusal = (target: RepositoryUrl) => options.rules.refusal(teamId, target);
    const { policy, sshDirectory, certificateFile } = options;
    const access = { policy, sshDirectory, certificateFile, refusal };
    if (name === undefined) {
      const credentials = options.credentialsOf?.(teamId);
      return options.github?.open(url, access) ?? plainGitHost(url, { ...access, ...(credentials && { credentials }) });
    }
    const reason = await refusal(url);
    if (reason !== undefined)
      throw new RepositoryFault("repository_access", `The repository ${shownUrl(url)} ${reason}.`);
    const host = await options.own.open(teamId, name);
    if (host === undefined)
      throw new RepositoryFault("repository_unreachable", `There is no repository "${name}" on this platform.`);
    return host;
  }
}

/** A host that never answers keeps its git process for minutes. Repositories of the platform's own need no network. */
function limitReach(host: SourceHost, teamId: number, slots: Slots | undefined): SourceHost {
  if (slots === undefined || host.directory !== null) return host;
  return { ...host, reach: (work, signal) => slots.run(teamId, () => host.reach(work, signal), signal) };
}

function hostOf(url: RepositoryUrl): string {
  const [authority = ""] = shownUrl(url).split("/");
  return /^https?$/.test(url.scheme) ? authority : hostText(url.host);
}

function checkShape({ url, startingRef, prUrl }: AgentRepository, where: string): RepositoryUrl {
  const read = readRepositoryUrl(url);
  if (read.kind === "refused") throw new ApiError("validation_error", `${where}.url ${read.reason}.`);
  if (startingRef !== undefined && !isReference(startingRef))
    throw new ApiError("validation_error", `${where}.startingRef cannot be the name of a branch, tag or commit.`);
  if (prUrl !== undefined && readPullRequestUrl(prUrl, read.url) === undefined)
    throw new ApiError("validation_error", `${where}.prUrl is not the address of a pull request of ${where}.url.`);
  return read.url;
}

interface AccessCheck {
  teamId: number;
  url: RepositoryUrl;
  where: string;
}

/** A host name that does not resolve now may resolve later, so the run reports that instead. */
async function checkAccess(
  { teamId, url, where }: AccessCheck,
  { own, policy, rules }: SourceHostsOptions,
  signal: AbortSignal,
): Promise<void> {
  const reason = await rules.refusal(teamId, url);
  if (reason !== undefined) throw new ApiError("repository_access", `${where}: ${shownUrl(url)} ${reason}.`);
  const name = await own.nameOf(urlText(url));
  if (name !== undefined && (await own.open(teamId, name)) === undefined)
    throw new ApiError("repository_access", `${where}: there is no repository "${name}" on this platform.`);
  if (name !== undefined) return;
  const resolved = await policy.resolve(url.host, signal);
  if (resolved.kind === "private") throw new ApiError("repository_access", `${privateAddressReason(where)}.`);
}

/** URLs are validated when an agent is created; an invalid one here is a bug or was written to the database directly. */
function parseStoredUrl(text: string): RepositoryUrl {
  const read = readRepositoryUrl(text);
  if (read.kind === "refused") throw new RepositoryFault("repository_unreachable", `The address ${read.reason}.`);
  return read.url;
}
