// What an agent may reach for a user: no more than the user may with the account that they connected.
import { ConnectionRefused, type GithubAccounts, GithubRefusal } from "../scm/index.ts";
import { type AccountStore, type ConnectedAccount, findAccount, keepAccount } from "./store.ts";

export interface UserAccess {
  /** Why not, in words for the user; undefined where they may. Whoever is no user is not judged here. */
  refusal(userId: number | null, url: string, signal: AbortSignal): Promise<string | undefined>;
}

export function openUserAccess(store: AccountStore, github: GithubAccounts | null): UserAccess {
  return {
    async refusal(userId, url, signal) {
      if (github === null || userId === null || !github.covers(url)) return undefined;
      const account = await findAccount(store, { userId, host: github.host });
      if (account === undefined) return notConnected(github);
      try {
        const token = await freshToken({ store, github, account }, signal);
        const mayPush = await github.mayPush(token, url, signal);
        return mayPush ? undefined : `your account ${account.login} on ${github.host} may not push to it`;
      } catch (error) {
        if (error instanceof ConnectionRefused) return notConnected(github);
        if (!(error instanceof GithubRefusal)) throw error;
        // Nobody gets in because the door was not watched.
        return `${github.host} could not be asked whether you may reach it (${error.message}); try again`;
      }
    },
  };
}

const notConnected = ({ host }: GithubAccounts): string =>
  `you have to connect your account on ${host} first, on the page /accounts of the platform`;

const spareMs = 5 * 60_000;

interface Renewal {
  store: AccountStore;
  github: GithubAccounts;
  account: ConnectedAccount;
}

async function freshToken({ store, github, account }: Renewal, signal: AbortSignal): Promise<string> {
  const { token, expiresAt, refreshToken } = account.tokens;
  if (expiresAt === null || expiresAt - spareMs > Date.now()) return token;
  if (refreshToken === null) throw new ConnectionRefused("the token has ended");
  const tokens = await github.refresh(refreshToken, signal);
  await keepAccount(store, { ...account, tokens });
  return tokens.token;
}
