// A user's permission on a repository, through the account that they connected on its host.
import { ConnectionRefused, type GithubAccounts, GithubRefusal, type RepositoryPermission } from "../scm/index.ts";
import { type AccountStore, type ConnectedAccount, findAccount } from "./store.ts";
import { freshToken } from "./tokens.ts";

export type UserPermission =
  | { kind: "not connected" }
  | { kind: "known"; login: string; permission: RepositoryPermission }
  /** The host did not give an answer. */
  | { kind: "unknown"; reason: string };

export interface PermissionQuery {
  store: AccountStore;
  github: GithubAccounts;
  userId: number;
  url: string;
}

export async function readUserPermission(query: PermissionQuery, signal: AbortSignal): Promise<UserPermission> {
  const { store, github, userId } = query;
  const account = await findAccount(store, { userId, host: github.host });
  return account === undefined ? { kind: "not connected" } : readAccountPermission(account, query, signal);
}

export async function readAccountPermission(
  account: ConnectedAccount,
  { store, github, url }: PermissionQuery,
  signal: AbortSignal,
): Promise<UserPermission> {
  try {
    const token = await freshToken({ store, github, account });
    return { kind: "known", login: account.login, permission: await github.readPermission(token, url, signal) };
  } catch (error) {
    if (error instanceof ConnectionRefused) return { kind: "not connected" };
    if (!(error instanceof GithubRefusal)) throw error;
    return { kind: "unknown", reason: error.message };
  }
}
