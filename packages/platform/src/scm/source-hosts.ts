// Finds the host of a repository, and says at the door what no agent could ever reach.
import { hostText } from "@agentcli/workspace/hosts";
import type { AgentRepository } from "../db/index.ts";
import { RepositoryFault } from "../git/index.ts";
import { ApiProblem } from "../http/index.ts";
import type { AccessRules } from "./access.ts";
import type { Github } from "./github/host.ts";
import type { PinOptions } from "./pinned.ts";
import { plainGitHost } from "./plain-git.ts";
import { isReference, readPullRequestUrl } from "./reference.ts";
import { type RepositoryUrl, readRepositoryUrl, repositoryName, shownUrl, urlText } from "./repository-url.ts";
import type { SourceHost } from "./source-host.ts";

export interface SourceHosts {
  /** Throws ApiProblem: `validation_error` for its shape, `repository_access` where no agent of the team may reach it. */
  check(teamId: number, repositories: AgentRepository[], signal: AbortSignal): Promise<void>;
  /** Throws RepositoryFault where there is no such repository for the team. */
  open(teamId: number, url: string): Promise<SourceHost>;
  /** One text for one repository, however it is written. */
  canonical(url: string): string;
  /** Without scheme: `github.com/o/r`. */
  shown(url: string): string;
  directoryName(url: string): string;
  /** Whose accounts count there: `github.com`, with its port where that is not the usual one of the web. */
  hostOf(url: string): string;
  /** Undefined where the address is of no pull request of the repository. */
  pullRequestNumber(prUrl: string, url: string): number | undefined;
}

/** Repositories that the platform keeps itself. */
export interface OwnRepositories {
  /** The name in an address of ours; undefined where the address is not of ours. */
  nameOf(url: string): Promise<string | undefined>;
  /** Undefined where the team has none of that name. */
  open(teamId: number, name: string): Promise<SourceHost | undefined>;
}

export interface SourceHostsOptions extends PinOptions {
  own: OwnRepositories;
  rules: AccessRules;
  /** Null where the platform was given no access to it. */
  github: Github | null;
}

export function openSourceHosts(options: SourceHostsOptions): SourceHosts {
  return {
    async check(teamId, repositories, signal) {
      const urls = repositories.map((repository, index) => checkShape(repository, `repos[${index}]`));
      // Some hosts care about upper and lower case, and on none of them do two repositories differ in nothing else.
      const names = urls.map((url) => shownUrl(url).toLowerCase());
      const twice = names.findIndex((name, index) => names.indexOf(name) < index);
      if (twice >= 0) throw new ApiProblem("validation_error", `repos[${twice}].url is in repos twice.`);
      for (const [index, url] of urls.entries())
        await checkAccess({ teamId, url, where: `repos[${index}].url` }, options, signal);
    },
    async open(teamId, text) {
      const url = knownUrl(text);
      const name = await options.own.nameOf(urlText(url));
      const refusal = (place: RepositoryUrl) => options.rules.refusal(teamId, place);
      const access = { policy: options.policy, sshDirectory: options.sshDirectory, refusal };
      if (name === undefined) return options.github?.open(url, access) ?? plainGitHost(url, access);
      const reason = await refusal(url);
      if (reason !== undefined)
        throw new RepositoryFault("repository_access", `The repository ${shownUrl(url)} ${reason}.`);
      const host = await options.own.open(teamId, name);
      if (host === undefined)
        throw new RepositoryFault("repository_unreachable", `There is no repository "${name}" on this platform.`);
      return host;
    },
    canonical: (url) => urlText(knownUrl(url)),
    shown: (url) => shownUrl(knownUrl(url)),
    hostOf: (url) => hostOf(knownUrl(url)),
    directoryName: (url) => repositoryName(knownUrl(url)),
    pullRequestNumber: (prUrl, url) => readPullRequestUrl(prUrl, knownUrl(url)),
  };
}

function hostOf(url: RepositoryUrl): string {
  const [authority = ""] = shownUrl(url).split("/");
  return /^https?$/.test(url.scheme) ? authority : hostText(url.host);
}

function checkShape({ url, startingRef, prUrl }: AgentRepository, where: string): RepositoryUrl {
  const read = readRepositoryUrl(url);
  if (read.kind === "refused") throw new ApiProblem("validation_error", `${where}.url ${read.reason}.`);
  if (startingRef !== undefined && !isReference(startingRef))
    throw new ApiProblem("validation_error", `${where}.startingRef cannot be the name of a branch, tag or commit.`);
  if (prUrl !== undefined && readPullRequestUrl(prUrl, read.url) === undefined)
    throw new ApiProblem("validation_error", `${where}.prUrl is not the address of a pull request of ${where}.url.`);
  return read.url;
}

interface Asked {
  teamId: number;
  url: RepositoryUrl;
  where: string;
}

/** A name that cannot be resolved now may be later: that is for the run to find out. */
async function checkAccess(
  { teamId, url, where }: Asked,
  { own, policy, rules }: SourceHostsOptions,
  signal: AbortSignal,
): Promise<void> {
  const reason = await rules.refusal(teamId, url);
  if (reason !== undefined) throw new ApiProblem("repository_access", `${where}: ${shownUrl(url)} ${reason}.`);
  const name = await own.nameOf(urlText(url));
  if (name !== undefined && (await own.open(teamId, name)) === undefined)
    throw new ApiProblem("repository_access", `${where}: there is no repository "${name}" on this platform.`);
  if (name !== undefined) return;
  const resolved = await policy.resolve(url.host, signal);
  if (resolved.kind === "private")
    throw new ApiProblem(
      "repository_access",
      `${where} leads to a private network. An administrator can list the address under [network] allow_private.`,
    );
}

/** Addresses are checked when an agent is made; one that is wrong here is a bug, or was put in past the door. */
function knownUrl(text: string): RepositoryUrl {
  const read = readRepositoryUrl(text);
  if (read.kind === "refused") throw new RepositoryFault("repository_unreachable", `The address ${read.reason}.`);
  return read.url;
}
