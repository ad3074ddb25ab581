// Tokens for GitHub: of an app, for one repository and what agents do there, or one that was given.
import { readFileSync, statSync } from "node:fs";
import type { GithubSettings } from "../../config/index.ts";
import { RepositoryFault } from "../../git/index.ts";
import type { RepositoryName } from "./address.ts";
import { type GithubApi, GithubRefusal, githubFault } from "./api.ts";

export interface GithubCredentials {
  kind: GithubSettings["credentials"]["kind"];
  /** Good for a few minutes at least, and as a rule for nothing but this repository. Throws RepositoryFault. */
  token(repository: RepositoryName, signal: AbortSignal): Promise<string>;
  /** The next one will be new. False where there is no other. */
  forget(repository: RepositoryName): boolean;
}

export interface CredentialOptions {
  api: GithubApi;
  settings: GithubSettings["credentials"];
  variables: NodeJS.ProcessEnv;
}

export function openCredentials({ api, settings, variables }: CredentialOptions): GithubCredentials {
  switch (settings.kind) {
    case "app":
      return appCredentials(api, settings);
    case "token":
      return { kind: "token", token: async () => variables[settings.variable] ?? "", forget: () => false };
  }
}

/** What agents do: fetch, push, and everything about pull requests. */
const needed = { contents: "write", pull_requests: "write", metadata: "read" } as const;
const spareMs = 10 * 60_000;

interface AccessToken {
  text: string;
  expiresAt: number;
}

type App = Extract<GithubSettings["credentials"], { kind: "app" }>;

function appCredentials(api: GithubApi, app: App): GithubCredentials {
  const kept = new Map<string, Promise<AccessToken>>();
  const keyOf = ({ owner, repo }: RepositoryName) => `${owner}/${repo}`.toLowerCase();
  const renew = (repository: RepositoryName, signal: AbortSignal): Promise<AccessToken> => {
    const asked = askForToken({ api, app, repository }, signal);
    kept.set(keyOf(repository), asked);
    asked.catch(() => kept.delete(keyOf(repository)));
    return asked;
  };
  return {
    kind: "app",
    async token(repository, signal) {
      const known = await kept.get(keyOf(repository))?.catch(() => undefined);
      const isGood = known !== undefined && known.expiresAt - spareMs > Date.now();
      return (isGood ? known : await renew(repository, signal)).text;
    },
    forget: (repository) => kept.delete(keyOf(repository)),
  };
}

interface TokenWish {
  api: GithubApi;
  app: App;
  repository: RepositoryName;
}

async function askForToken({ api, app, repository }: TokenWish, signal: AbortSignal): Promise<AccessToken> {
  const { owner, repo } = repository;
  const what = `get access to ${owner}/${repo} as the GitHub App ${app.appId}`;
  try {
    const token = await signIn(api, app);
    const route = "GET /repos/{owner}/{repo}/installation" as const;
    const { id, permissions } = await api.ask({ route, parameters: repository, token }, signal);
    // Asked for where it is not there, nothing would be given.
    const wished = { ...needed, ...(permissions.checks === "write" && { checks: "write" as const }) };
    const grant: Grant = { api, token, installation: id };
    return await narrowToken(grant, { repo, permissions: wished }, signal).catch(async (error: unknown) => {
      const name = isUnknownName(error) ? await presentName(grant, repository, signal) : repo;
      if (name === repo) throw error;
      return narrowToken(grant, { repo: name, permissions: wished }, signal);
    });
  } catch (error) {
    if (error instanceof GithubRefusal && error.status === 404)
      throw new RepositoryFault(
        "repository_unreachable",
        `The GitHub App ${app.appId} is not installed for ${owner}/${repo}. Install it there, or check the address.`,
        { cause: error },
      );
    throw githubFault(error, { what, code: "repository_unreachable" });
  }
}

interface Grant {
  api: GithubApi;
  /** The app's own. */
  token: string;
  installation: number;
}

type Permissions = { contents?: "write"; pull_requests?: "write"; checks?: "write"; metadata: "read" };

async function narrowToken(
  { api, token, installation }: Grant,
  { repo, permissions }: { repo?: string; permissions: Permissions },
  signal: AbortSignal,
): Promise<AccessToken> {
  const route = "POST /app/installations/{installation_id}/access_tokens" as const;
  const repositories = repo === undefined ? {} : { repositories: [repo] };
  const parameters = { installation_id: installation, ...repositories, permissions };
  const granted = await api.ask({ route, parameters, token }, signal);
  return { text: granted.token, expiresAt: Date.parse(granted.expires_at) };
}

const isUnknownName = (error: unknown): boolean => error instanceof GithubRefusal && error.status === 422;

/** A repository that was renamed is found by its former name everywhere but here. */
async function presentName(grant: Grant, repository: RepositoryName, signal: AbortSignal): Promise<string> {
  const { text: token } = await narrowToken(grant, { permissions: { metadata: "read" } }, signal);
  const { name } = await grant.api.ask({ route: "GET /repos/{owner}/{repo}", parameters: repository, token }, signal);
  return name;
}

/** The app's own token, good for minutes. The key is read each time: it may have been exchanged. */
async function signIn(api: GithubApi, { appId, privateKeyFile }: App): Promise<string> {
  const { createAppAuth } = await import("@octokit/auth-app");
  const { request } = await api.octokit();
  try {
    const authenticate = createAppAuth({ appId, privateKey: readPrivateKey(privateKeyFile), request });
    return (await authenticate({ type: "app" })).token;
  } catch (error) {
    throw new RepositoryFault(
      "repository_unreachable",
      `The platform cannot sign in as the GitHub App ${appId}: ${(error as Error).message} An administrator has to look at it.`,
      { cause: error },
    );
  }
}

export function readPrivateKey(path: string): string {
  if (statSync(path).mode & 0o077) throw new Error(`${path} can be read by others than its owner; chmod 600 ${path}.`);
  return readFileSync(path, "utf8");
}
