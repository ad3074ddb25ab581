// `Platform.auth`: a key that is given once and then used by every call that names none.
import type { Me } from "@agentcli/protocol/api";
import { accessOf, openConnection } from "./connection.ts";
import { fileCredentials, isExpired, type SdkCredentialStore, type StoredSdkCredentials } from "./login.ts";
import type { ConnectionOptions } from "./options.ts";
import type { Runtime } from "./runtime.ts";

export const DEFAULT_LOGIN_API_KEY_TTL_MS = 90 * 24 * 60 * 60_000;

export interface SdkLoginOptions extends ConnectionOptions {
  /** Null keeps nothing. */
  store?: SdkCredentialStore | null;
  /** How long the login counts, from now; 90 days unless given. */
  apiKeyTtlMs?: number;
}

export interface SdkLoginResult {
  apiKey: string;
  /** Absent where the key belongs to a service account. */
  email?: string;
  apiKeyExpiresAtMs: number;
}

export type SdkAuthStatus =
  | { status: "logged-out" }
  | { status: "logged-in"; backendUrl: string; email?: string; apiKeyExpiresAtMs?: number };

export interface SdkCredentialOptions {
  store?: SdkCredentialStore;
}

export interface AuthCalls {
  /** Makes sure that the platform takes the key (`apiKey`, else PLATFORM_API_KEY) and keeps it. */
  login(options?: SdkLoginOptions): Promise<SdkLoginResult>;
  /** Forgets the login. The key stays valid: revoke it on the platform. */
  logout(options?: SdkCredentialOptions): Promise<void>;
  /** Never tells the key. */
  status(options?: SdkCredentialOptions): Promise<SdkAuthStatus>;
}

export function authCalls(runtime: Runtime): AuthCalls {
  const usual = fileCredentials(runtime.variables);
  return {
    async login({ store = usual, apiKeyTtlMs = DEFAULT_LOGIN_API_KEY_TTL_MS, ...options } = {}) {
      const { origin, key } = accessOf(options, runtime.variables);
      const request = { operation: "auth.login", method: "GET", path: "/v1/me" } as const;
      const me = await openConnection(options, runtime).ask<Me>(request, new AbortController().signal);
      const login = loginOf(me, key, Date.now() + apiKeyTtlMs);
      await store?.save({ version: 1, backendUrl: origin, createdAtMs: Date.now(), ...login });
      return login;
    },
    logout: async ({ store = usual } = {}) => store.clear(),
    async status({ store = usual } = {}) {
      const kept = await store.load();
      return kept && !isExpired(kept) ? statusOf(kept) : { status: "logged-out" };
    },
  };
}

const loginOf = ({ userEmail }: Me, apiKey: string, apiKeyExpiresAtMs: number): SdkLoginResult => ({
  ...{ apiKey, apiKeyExpiresAtMs },
  ...(userEmail !== undefined && { email: userEmail }),
});

const statusOf = ({ backendUrl, email, apiKeyExpiresAtMs }: StoredSdkCredentials): SdkAuthStatus => ({
  ...{ status: "logged-in", backendUrl },
  ...(email !== undefined && { email }),
  ...(apiKeyExpiresAtMs !== undefined && { apiKeyExpiresAtMs }),
});
