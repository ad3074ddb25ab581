// Repositories on GitHub: git with a token for the one call, pull requests through the API.
import type { GithubSettings } from "../../config/index.ts";
import { GitFailed } from "../../git/index.ts";
import { type GitAccess, plainGitHost } from "../plain-git.ts";
import type { RepositoryUrl } from "../repository-url.ts";
import type { SourceHost } from "../source-host.ts";
import { type GithubAccounts, openGithubAccounts } from "./accounts.ts";
import { githubUrl, type RepositoryName, readGithubName, webOrigin } from "./address.ts";
import { type GithubApi, openGithubApi } from "./api.ts";
import { githubChecks } from "./checks.ts";
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
  const authorization = async (signal: AbortSignal) => {
    const token = await credentials.token(repository, signal);
    return { origin: web.origin, value: `Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}` };
  };
  const host = plainGitHost(githubUrl(repository, web), { ...access, authorization });
  return {
    ...host,
    pullRequests: githubPullRequests(github),
    // Only apps may make them.
    checks: credentials.kind === "app" ? githubChecks(github) : null,
    async reach(work, signal) {
      try {
        return await host.reach(work, signal);
      } catch (error) {
        // It may have been taken back before its time, or be of a former owner.
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
    /returned error: 40[14]|not found|could not read Username|Authentication failed/i.test(cause.said)
  );
};
