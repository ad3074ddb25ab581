// People on GitHub: they connect their account, and agents that work for them get no further than they do themselves.
import type { GithubSettings } from "../../config/index.ts";
import { readRepositoryUrl } from "../repository-url.ts";
import { readGithubName } from "./address.ts";
import { type GithubApi, GithubRefusal } from "./api.ts";

export interface GithubAccounts {
  /** As in addresses of repositories. */
  host: string;
  /** Where a person says yes; they come back to `redirectUrl` with `state` and a code. */
  authorizeUrl(wish: { state: string; redirectUrl: string }): string;
  exchange(code: string, signal: AbortSignal): Promise<UserTokens>;
  /** Good for a single use: after it, only what comes back is good. */
  refresh(refreshToken: string, signal: AbortSignal): Promise<UserTokens>;
  whoIs(token: string, signal: AbortSignal): Promise<{ id: string; login: string }>;
  /** Whether the address is of a repository there. */
  covers(url: string): boolean;
  /** Of one that it covers. */
  reach(token: string, url: string, signal: AbortSignal): Promise<Reach>;
}

/** What an account may do with a repository. */
export type Reach = "none" | "read" | "push";

export interface UserTokens {
  token: string;
  /** Null where it does not end. */
  expiresAt: number | null;
  refreshToken: string | null;
}

/** GitHub did not take the code or the token: the person has to connect again. */
export class ConnectionRefused extends Error {
  override name = "ConnectionRefused";
}

export interface AccountsOptions {
  api: GithubApi;
  web: URL;
  client: NonNullable<GithubSettings["client"]>;
  variables: NodeJS.ProcessEnv;
}

const answerLimitMs = 20_000;

export function openGithubAccounts({ api, web, client, variables }: AccountsOptions): GithubAccounts {
  const ask = async (fields: Record<string, string>, signal: AbortSignal): Promise<UserTokens> => {
    const secret = variables[client.secretVariable] ?? "";
    const form = { client_id: client.id, client_secret: secret, ...fields };
    return readTokens(await askForTokens(`${web.origin}/login/oauth/access_token`, form, signal));
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
    exchange: (code, signal) => ask({ code }, signal),
    refresh: (token, signal) => ask({ grant_type: "refresh_token", refresh_token: token }, signal),
    async whoIs(token, signal) {
      const { id, login } = await api.ask({ route: "GET /user", parameters: {}, token }, signal);
      return { id: String(id), login };
    },
    async reach(token, url, signal) {
      const repository = nameOf(url);
      if (repository === undefined) throw new Error(`${url} is not on ${web.host}`);
      try {
        const route = "GET /repos/{owner}/{repo}" as const;
        const { permissions } = await api.ask({ route, parameters: repository, token }, signal);
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

interface TokenAnswer {
  access_token?: string;
  expires_in?: number;
  refresh_token?: string;
  error?: string;
  error_description?: string;
}

/** Throws GithubRefusal where there is no answer, or one that says nothing of tokens. */
async function askForTokens(url: string, form: Record<string, string>, signal: AbortSignal): Promise<TokenAnswer> {
  let status = 0;
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { accept: "application/json" },
      body: new URLSearchParams(form),
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerLimitMs)]),
    });
    status = answer.status;
    return (await answer.json()) as TokenAnswer;
  } catch (error) {
    signal.throwIfAborted();
    throw new GithubRefusal(status, "no token was given, and no reason", { cause: error });
  }
}

/** What GitHub says where the person is not the one who can mend it. */
const ofTheApp = ["incorrect_client_credentials", "redirect_uri_mismatch", "unsupported_grant_type"];

function readTokens(answer: TokenAnswer): UserTokens {
  const words = answer.error_description ?? answer.error ?? "no token was given";
  if (ofTheApp.includes(answer.error ?? "")) throw new GithubRefusal(401, words, {});
  if (!answer.access_token) throw new ConnectionRefused(words);
  return {
    token: answer.access_token,
    expiresAt: answer.expires_in === undefined ? null : Date.now() + answer.expires_in * 1_000,
    refreshToken: answer.refresh_token ?? null,
  };
}
