// What a user may do with a repository, through the account that they connected on its host.
import { ConnectionRefused, type GithubAccounts, GithubRefusal, type Reach } from "../scm/index.ts";
import { type AccountStore, type ConnectedAccount, findAccount } from "./store.ts";
import { freshToken } from "./tokens.ts";

export type UserReach =
  | { kind: "not connected" }
  | { kind: "known"; login: string; reach: Reach }
  /** The host could not be asked. */
  | { kind: "unknown"; reason: string };

export interface Asked {
  store: AccountStore;
  github: GithubAccounts;
  userId: number;
  url: string;
}

export async function reachOf(asked: Asked, signal: AbortSignal): Promise<UserReach> {
  const { store, github, userId } = asked;
  const account = await findAccount(store, { userId, host: github.host });
  return account === undefined ? { kind: "not connected" } : reachThrough(account, asked, signal);
}

export async function reachThrough(
  account: ConnectedAccount,
  { store, github, url }: Asked,
  signal: AbortSignal,
): Promise<UserReach> {
  try {
    const token = await freshToken({ store, github, account });
    return { kind: "known", login: account.login, reach: await github.reach(token, url, signal) };
  } catch (error) {
    if (error instanceof ConnectionRefused) return { kind: "not connected" };
    if (!(error instanceof GithubRefusal)) throw error;
    return { kind: "unknown", reason: error.message };
  }
}
