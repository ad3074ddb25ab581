// Tokens for GitHub: installation tokens of an app, limited to one repository and the permissions agents need, or a configured token.
import { readFileSync, statSync } from "node:fs";
import type { GithubSettings } from "../../../foundation/index.ts";
import { RepositoryFault } from "../../git/index.ts";
import type { RepositoryName } from "./address.ts";
import { type GithubApi, GithubRefusal, githubFault } from "./api.ts";
import { repositoriesOfInstallation, repositoriesOfUser } from "./list-repositories.ts";
import { readPages } from "./pages.ts";

/** Tokens for repositories, with one set of permissions. */
export interface RepositoryTokens {
  /** Valid for at least a few minutes; an app's token is limited to this repository. Throws RepositoryFault. */
  token(repository: RepositoryName, signal: AbortSignal): Promise<string>;
  /** Drops the cached token. False if there is none to replace. */
  forget(repository: RepositoryName): boolean;
}

export interface GithubCredentials extends RepositoryTokens {
  kind: GithubSettings["credentials"]["kind"];
  /** They read the files of the repository, and nothing else. */
  forReading: RepositoryTokens;
  /** They read webhooks, which no machine of a customer may do. */
  forHooks: RepositoryTokens;
  /** Names of all repositories that it gives access to, as `owner/repo`. Throws GithubRefusal. */
  repositories(signal: AbortSignal): Promise<string[]>;
  /** Of the app itself; null where there is none. */
  appToken: (() => Promise<string>) | null;
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
    case "token": {
      const token = () => variables[settings.variable] ?? "";
      const tokens: RepositoryTokens = { token: async () => token(), forget: () => false };
      return {
        ...tokens,
        kind: "token",
        forReading: tokens,
        forHooks: tokens,
        repositories: (signal) => repositoriesOfUser({ api, token: token() }, signal),
        appToken: null,
      };
    }
  }
}

/** Agents fetch, push and manage pull requests. */
const basePermissions = { contents: "write", pull_requests: "write", metadata: "read" } as const;
const expiryMarginMs = 10 * 60_000;

interface AccessToken {
  text: string;
  expiresAt: number;
}

type App = Extract<GithubSettings["credentials"], { kind: "app" }>;

const appCredentials = (api: GithubApi, app: App): GithubCredentials => ({
  ...appTokens({ api, app, choose: (granted) => ({ ...basePermissions, ...optionalPermissions(granted) }) }),
  kind: "app",
  forReading: appTokens({ api, app, choose: () => ({ contents: "read", metadata: "read" }) }),
  forHooks: appTokens({ api, app, choose: hookPermissions }),
  repositories: (signal) => repositoriesOfApp(api, app, signal),
  appToken: () => createAppJwt(api, app),
});

function appTokens(options: Omit<TokenRequest, "repository">): RepositoryTokens {
  const tokens = new Map<string, Promise<AccessToken>>();
  const keyOf = ({ owner, repo }: RepositoryName) => `${owner}/${repo}`.toLowerCase();
  const renew = (repository: RepositoryName, signal: AbortSignal): Promise<AccessToken> => {
    const pending = requestToken({ ...options, repository }, signal);
    tokens.set(keyOf(repository), pending);
    pending.catch(() => tokens.delete(keyOf(repository)));
    return pending;
  };
  return {
    async token(repository, signal) {
      const cached = await tokens.get(keyOf(repository))?.catch(() => undefined);
      const isValid = cached !== undefined && cached.expiresAt - expiryMarginMs > Date.now();
      return (isValid ? cached : await renew(repository, signal)).text;
    },
    forget: (repository) => tokens.delete(keyOf(repository)),
  };
}

interface TokenRequest {
  api: GithubApi;
  app: App;
  repository: RepositoryName;
  /** Requesting a permission that the installation lacks would fail the whole request. */
  choose(granted: Granted): Permissions;
}

type Granted = Record<string, string | undefined>;

async function requestToken({ api, app, repository, choose }: TokenRequest, signal: AbortSignal): Promise<AccessToken> {
  const { owner, repo } = repository;
  const what = `get access to ${owner}/${repo} as the GitHub App ${app.appId}`;
  try {
    const token = await createAppJwt(api, app);
    const route = "GET /repos/{owner}/{repo}/installation" as const;
    const { id, permissions } = await api.request({ route, parameters: repository, token }, signal);
    const requested = choose(permissions);
    const grant: Grant = { api, token, installation: id };
    return await createToken(grant, { repo, permissions: requested }, signal).catch(async (error: unknown) => {
      const name = isUnknownName(error) ? await currentName(grant, repository, signal) : repo;
      if (name === repo) throw error;
      return createToken(grant, { repo: name, permissions: requested }, signal);
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
  /** The app's JWT. */
  token: string;
  installation: number;
}

/** Checks of runs, logs of failed jobs, and answers to mentions on issues. */
function optionalPermissions({ checks, actions, issues }: Granted): Partial<Permissions> {
  return {
    ...(checks === "write" && { checks: "write" }),
    ...((actions === "read" || actions === "write") && { actions: "read" }),
    ...(issues === "write" && { issues: "write" }),
  };
}

const hookPermissions = ({ repository_hooks: hooks }: Granted): Permissions => ({
  metadata: "read",
  ...((hooks === "read" || hooks === "write") && { repository_hooks: "read" }),
});

interface Permissions {
  contents?: "read" | "write";
  pull_requests?: "write";
  checks?: "write";
  actions?: "read";
  issues?: "write";
  repository_hooks?: "read";
  metadata: "read";
}

async function createToken(
  { api, token, installation }: Grant,
  { repo, permissions }: { repo?: string; permissions: Permissions },
  signal: AbortSignal,
): Promise<AccessToken> {
  const route = "POST /app/installations/{installation_id}/access_tokens" as const;
  const repositories = repo === undefined ? {} : { repositories: [repo] };
  const parameters = { installation_id: installation, ...repositories, permissions };
  const granted = await api.request({ route, parameters, token }, signal);
  return { text: granted.token, expiresAt: Date.parse(granted.expires_at) };
}

async function repositoriesOfApp(api: GithubApi, app: App, signal: AbortSignal): Promise<string[]> {
  const token = await createAppJwt(api, app);
  const installations = await readPages((page) =>
    api.request({ route: "GET /app/installations", parameters: page, token }, signal),
  );
  const names: string[] = [];
  for (const { id } of installations.filter(({ suspended_at }) => !suspended_at)) {
    const grant: Grant = { api, token, installation: id };
    const access = await createToken(grant, { permissions: { metadata: "read" } }, signal);
    names.push(...(await repositoriesOfInstallation({ api, token: access.text }, signal)));
  }
  return names;
}

const isUnknownName = (error: unknown): boolean => error instanceof GithubRefusal && error.status === 422;

/** GitHub redirects the old name of a renamed repository everywhere except when creating tokens. */
async function currentName(grant: Grant, repository: RepositoryName, signal: AbortSignal): Promise<string> {
  const { text: token } = await createToken(grant, { permissions: { metadata: "read" } }, signal);
  const { name } = await grant.api.request(
    { route: "GET /repos/{owner}/{repo}", parameters: repository, token },
    signal,
  );
  return name;
}

/** The app's JWT, valid for minutes. The key file is read each time because it may have been replaced. */
async function createAppJwt(api: GithubApi, { appId, privateKeyFile }: App): Promise<string> {
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
