// Repositories on GitHub: git with a token per call, pull requests through the API.
import type { GithubSettings } from "../../../foundation/index.ts";
import { GitFailed } from "../../git/index.ts";
import type { HookDeliveries } from "../hook-deliveries.ts";
import { type GitAccess, plainGitHost } from "../plain-git.ts";
import type { RepositoryUrl } from "../repository-url.ts";
import type { SourceHost, TokenRights } from "../source-host.ts";
import { type GithubAccounts, openGithubAccounts } from "./accounts.ts";
import { githubUrl, readGithubName, webOrigin } from "./address.ts";
import { githubFault, openGithubApi } from "./api.ts";
import { githubChecks } from "./checks.ts";
import { openCredentials } from "./credentials.ts";
import { hookDeliveries, repositoryHooks } from "./deliveries.ts";
import { githubInquiries } from "./inquiries.ts";
import { githubPullRequests } from "./pull-requests.ts";
import type { GithubRepository } from "./repository.ts";

export interface Github {
  /** Of its web pages and repositories. */
  origin: string;
  /** Undefined if the URL is not one of a repository on GitHub. */
  open(url: RepositoryUrl, access: GitAccess): SourceHost | undefined;
  /** Null if users cannot connect accounts. */
  accounts: GithubAccounts | null;
  /** Addresses of the repositories that the platform has access to. Throws RepositoryFault. */
  list(signal: AbortSignal): Promise<string[]>;
  /** Of the webhook of the app; null where there is none. */
  deliveries: HookDeliveries | null;
}

export function openGithub(settings: GithubSettings, variables: NodeJS.ProcessEnv): Github {
  const web = webOrigin(settings.baseUrl);
  const api = openGithubApi(settings.baseUrl);
  const credentials = openCredentials({ api, settings: settings.credentials, variables });
  const { client } = settings;
  return {
    origin: web.origin,
    deliveries: credentials.appToken && hookDeliveries(api, credentials.appToken),
    accounts: client && openGithubAccounts({ api, web, client, variables }),
    async list(signal) {
      try {
        return (await credentials.repositories(signal)).map((name) => `${web.origin}/${name}`);
      } catch (error) {
        throw githubFault(error, { what: `list the repositories on ${web.host}`, code: "repository_unreachable" });
      }
    },
    open(url, access) {
      const repository = readGithubName(url, web);
      return repository && githubHost({ repository, web, api, credentials }, access);
    },
  };
}

function githubHost(github: GithubRepository, access: GitAccess): SourceHost {
  const { repository, web, credentials } = github;
  const authorization = async (signal: AbortSignal) => {
    const token = await credentials.token(repository, signal);
    return { origin: web.origin, value: `Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}` };
  };
  const url = githubUrl(repository, web);
  const host = plainGitHost(url, { ...access, authorization });
  const mintToken = async (rights: TokenRights, signal: AbortSignal) => {
    if ((await access.refusal(url)) !== undefined) return undefined;
    return (rights === "read" ? credentials.forReading : credentials).token(repository, signal);
  };
  return {
    ...host,
    pullRequests: githubPullRequests(github),
    // Only apps may create checks.
    checks: credentials.kind === "app" ? githubChecks(github) : null,
    inquiries: githubInquiries(github),
    // The configured token of a person reaches all of their repositories.
    mintToken: credentials.kind === "app" ? mintToken : null,
    hooks: (signal) => repositoryHooks(github, signal),
    async reach(work, signal) {
      try {
        return await host.reach(work, signal);
      } catch (error) {
        // The token may have been revoked, or belong to the previous owner's installation.
        if (!isRefused(error) || !credentials.forget(repository)) throw error;
        return host.reach(work, signal);
      }
    },
  };
}

const isRefused = (error: unknown): boolean => {
  const cause = error instanceof Error ? error.cause : undefined;
  return (
    cause instanceof GitFailed &&
    /returned error: 40[14]|not found|could not read Username|Authentication failed/i.test(cause.stderr)
  );
};
