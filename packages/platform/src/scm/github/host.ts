// Repositories on GitHub: git with a token for the one call, pull requests through the API.
import type { GithubSettings } from "../../config/index.ts";
import { GitFailed, type GitRemote } from "../../git/index.ts";
import { type GitAccess, plainGitHost } from "../plain-git.ts";
import type { RepositoryUrl } from "../repository-url.ts";
import type { SourceHost } from "../source-host.ts";
import { type GithubAccounts, openGithubAccounts } from "./accounts.ts";
import { githubUrl, type RepositoryName, readGithubName, webOrigin } from "./address.ts";
import { type GithubApi, openGithubApi } from "./api.ts";
import { type GithubCredentials, openCredentials } from "./credentials.ts";
import { githubPullRequests } from "./pull-requests.ts";

export interface Github {
  /** Undefined where the address is not of a repository on GitHub. */
  open(url: RepositoryUrl, access: GitAccess): SourceHost | undefined;
  /** Null where users cannot connect theirs. */
  accounts: GithubAccounts | null;
}

export function openGithub(settings: GithubSettings, variables: NodeJS.ProcessEnv): Github {
  const web = webOrigin(settings.baseUrl);
  const api = openGithubApi(settings.baseUrl);
  const credentials = openCredentials({ api, settings: settings.credentials, variables });
  const { client } = settings;
  return {
    accounts: client && openGithubAccounts({ api, web, client, variables }),
    open(url, access) {
      const repository = readGithubName(url, web);
      return repository && githubHost({ repository, web, api, credentials }, access);
    },
  };
}

export interface GithubRepository {
  repository: RepositoryName;
  web: URL;
  api: GithubApi;
  credentials: GithubCredentials;
}

function githubHost(github: GithubRepository, access: GitAccess): SourceHost {
  const { repository, web, credentials } = github;
  const authorize = async (remote: GitRemote, signal: AbortSignal): Promise<GitRemote> => {
    const token = await credentials.token(repository, signal);
    return { ...remote, config: [...remote.config, tokenHeader(web, token)] };
  };
  const host = plainGitHost(githubUrl(repository, web), { ...access, authorize });
  return {
    ...host,
    pullRequests: githubPullRequests(github),
    async reach(work, signal) {
      try {
        return await host.reach(work, signal);
      } catch (error) {
        // It may have been taken back before its time.
        if (!isRefused(error) || !credentials.forget(repository)) throw error;
        return host.reach(work, signal);
      }
    },
  };
}

/** For this host only: where a repository has moved elsewhere, the token does not follow. */
const tokenHeader = (web: URL, token: string): [string, string] => [
  `http.${web.origin}/.extraHeader`,
  `Authorization: Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}`,
];

const isRefused = (error: unknown): boolean => {
  const cause = error instanceof Error ? error.cause : undefined;
  return (
    cause instanceof GitFailed && /returned error: 401|could not read Username|Authentication failed/i.test(cause.said)
  );
};
