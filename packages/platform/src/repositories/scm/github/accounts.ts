// User accounts on GitHub: users connect theirs, and agents that work for them get no more access than they have.
import type { GithubSettings } from "../../../foundation/index.ts";
import { readRepositoryUrl } from "../repository-url.ts";
import type { RepositoryPermission } from "../source-host.ts";
import { readGithubName } from "./address.ts";
import { type GithubApi, GithubRefusal } from "./api.ts";
import { repositoriesOfUser } from "./list-repositories.ts";

export interface GithubAccounts {
  /** As in repository URLs. */
  host: string;
  /** GitHub's consent page, which redirects to `redirectUrl` with `state` and a code. */
  authorizeUrl(request: { state: string; redirectUrl: string }): string;
  exchange(code: string, signal: AbortSignal): Promise<UserTokens>;
  /** A refresh token works once; afterwards only the returned tokens are valid. */
  refresh(refreshToken: string, signal: AbortSignal): Promise<UserTokens>;
  readUser(token: string, signal: AbortSignal): Promise<{ id: string; login: string }>;
  /** Whether the URL is one of a repository on this host. */
  covers(url: string): boolean;
  /** Addresses of the repositories that the person may push to. */
  listRepositories(token: string, signal: AbortSignal): Promise<string[]>;
  /** For a URL that it covers. */
  readPermission(token: string, url: string, signal: AbortSignal): Promise<RepositoryPermission>;
}

export interface UserTokens {
  token: string;
  /** Null if it does not expire. */
  expiresAt: number | null;
  refreshToken: string | null;
}

/** GitHub rejected the code or the token: the user has to connect the account again. */
export class ConnectionRefused extends Error {
  override name = "ConnectionRefused";
}

export interface AccountsOptions {
  api: GithubApi;
  web: URL;
  client: NonNullable<GithubSettings["client"]>;
  variables: NodeJS.ProcessEnv;
}

const responseTimeoutMs = 20_000;

export function openGithubAccounts({ api, web, client, variables }: AccountsOptions): GithubAccounts {
  const requestTokens = async (fields: Record<string, string>, signal: AbortSignal): Promise<UserTokens> => {
    const secret = variables[client.secretVariable] ?? "";
    const form = { client_id: client.id, client_secret: secret, ...fields };
    return readTokens(await postForm(`${web.origin}/login/oauth/access_token`, form, signal));
  };
  const nameOf = (url: string) => {
    const read = readRepositoryUrl(url);
    return read.kind === "url" ? readGithubName(read.url, web) : undefined;
  };
  return {
    host: web.host,
    covers: (url) => nameOf(url) !== undefined,
    authorizeUrl({ state, redirectUrl }) {
      const query = new URLSearchParams({ client_id: client.id, redirect_uri: redirectUrl, state });
      return `${web.origin}/login/oauth/authorize?${query}`;
    },
    exchange: (code, signal) => requestTokens({ code }, signal),
    refresh: (token, signal) => requestTokens({ grant_type: "refresh_token", refresh_token: token }, signal),
    async readUser(token, signal) {
      const { id, login } = await api.request({ route: "GET /user", parameters: {}, token }, signal);
      return { id: String(id), login };
    },
    async listRepositories(token, signal) {
      try {
        return (await repositoriesOfUser({ api, token }, signal)).map((name) => `${web.origin}/${name}`);
      } catch (error) {
        if (error instanceof GithubRefusal && error.status === 401)
          throw new ConnectionRefused(error.message, { cause: error });
        throw error;
      }
    },
    async readPermission(token, url, signal) {
      const repository = nameOf(url);
      if (repository === undefined) throw new Error(`${url} is not on ${web.host}`);
      try {
        const route = "GET /repos/{owner}/{repo}" as const;
        const { permissions } = await api.request({ route, parameters: repository, token }, signal);
        return permissions?.push ? "push" : permissions?.pull ? "read" : "none";
      } catch (error) {
        if (!(error instanceof GithubRefusal)) throw error;
        if (error.status === 401) throw new ConnectionRefused(error.message, { cause: error });
        if (error.status === 404 || error.status === 403) return "none";
        throw error;
      }
    },
  };
}

interface TokenResponse {
  access_token?: string;
  expires_in?: number;
  refresh_token?: string;
  error?: string;
  error_description?: string;
}

/** Throws GithubRefusal if there is no response, or one that is not JSON. */
async function postForm(url: string, form: Record<string, string>, signal: AbortSignal): Promise<TokenResponse> {
  let status = 0;
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { accept: "application/json" },
      body: new URLSearchParams(form),
      signal: AbortSignal.any([signal, AbortSignal.timeout(responseTimeoutMs)]),
    });
    status = response.status;
    return (await response.json()) as TokenResponse;
  } catch (error) {
    signal.throwIfAborted();
    throw new GithubRefusal(status, "its answer has neither a token nor an error", { cause: error });
  }
}

/** Error codes that only the administrator of the app can fix, not the user. */
const appErrors = ["incorrect_client_credentials", "redirect_uri_mismatch", "unsupported_grant_type"];

function readTokens(response: TokenResponse): UserTokens {
  const message = response.error_description ?? response.error ?? "no token was given";
  if (appErrors.includes(response.error ?? "")) throw new GithubRefusal(401, message, {});
  if (!response.access_token) throw new ConnectionRefused(message);
  return {
    token: response.access_token,
    expiresAt: response.expires_in === undefined ? null : Date.now() + response.expires_in * 1_000,
    refreshToken: response.refresh_token ?? null,
  };
}
