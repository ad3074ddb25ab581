// What an agent may reach for a user: no more than the user may with the account that they connected.
import { ConnectionRefused, type GithubAccounts, GithubRefusal } from "../scm/index.ts";
import { type AccountStore, findAccount } from "./store.ts";
import { freshToken } from "./tokens.ts";

export interface UserAccess {
  /** Undefined where they may. Whoever is no user is not judged here. */
  refusal(userId: number | null, url: string, signal: AbortSignal): Promise<AccessRefusal | undefined>;
}

/** Why not, in words for the user. */
export interface AccessRefusal {
  code: "repository_access" | "integration_not_connected";
  reason: string;
}

export function openUserAccess(store: AccountStore, github: GithubAccounts | null): UserAccess {
  return {
    async refusal(userId, url, signal) {
      if (github === null || userId === null || !github.covers(url)) return undefined;
      const account = await findAccount(store, { userId, host: github.host });
      if (account === undefined) return notConnected(github);
      const refuse = (reason: string): AccessRefusal => ({ code: "repository_access", reason });
      try {
        const token = await freshToken({ store, github, account });
        const mayPush = await github.mayPush(token, url, signal);
        return mayPush ? undefined : refuse(`your account ${account.login} on ${github.host} may not push to it`);
      } catch (error) {
        if (error instanceof ConnectionRefused) return notConnected(github);
        if (!(error instanceof GithubRefusal)) throw error;
        // Nobody gets in because the door was not watched.
        return refuse(`${github.host} could not be asked whether you may reach it (${error.message}); try again`);
      }
    },
  };
}

const notConnected = ({ host }: GithubAccounts): AccessRefusal => ({
  code: "integration_not_connected",
  reason: `you have to connect your account on ${host} first, on the page /accounts of the platform`,
});
