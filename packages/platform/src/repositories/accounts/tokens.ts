// A user's token, refreshed before it expires. Concurrent servers refresh it only once, because a refresh token works once.
import { retryWhileAway } from "../../foundation/index.ts";
import { ConnectionRefused, type GithubAccounts, type UserTokens } from "../scm/index.ts";
import {
  type AccountId,
  type AccountStore,
  type ConnectedAccount,
  findAccount,
  lockAccount,
  writeTokens,
} from "./store.ts";

export interface TokenRequest {
  store: AccountStore;
  github: GithubAccounts;
  account: ConnectedAccount;
}

/** Throws ConnectionRefused if the user has to connect the account again. */
export async function freshToken({ store, github, account }: TokenRequest): Promise<string> {
  if (isValid(account.tokens)) return account.tokens.token;
  let renewed: UserTokens | undefined;
  try {
    return await store.db.transaction().execute(async (transaction) => {
      const current = await currentAccount({ ...store, db: transaction }, account);
      if (isValid(current.tokens)) return current.tokens.token;
      renewed = await renew(github, current.tokens);
      await writeTokens({ ...store, db: transaction }, account, renewed);
      return renewed.token;
    });
  } catch (error) {
    if (renewed === undefined) throw error;
    // The host has invalidated the old tokens: the new ones must be stored even though the transaction failed.
    const { token } = renewed;
    await retryWhileAway(() => writeTokens(store, account, renewed as UserTokens));
    return token;
  }
}

/** Reads the account under its lock: another server may have renewed the tokens, or the user disconnected the account. */
async function currentAccount(store: AccountStore, id: AccountId): Promise<ConnectedAccount> {
  await lockAccount(store.db, id);
  const current = await findAccount(store, id);
  if (current === undefined) throw new ConnectionRefused("the account was disconnected");
  return current;
}

const expiryMarginMs = 5 * 60_000;

const isValid = ({ expiresAt }: UserTokens): boolean => expiresAt === null || expiresAt - expiryMarginMs > Date.now();

const renewTimeoutMs = 20_000;

/** The caller cannot abort it: an unread response would lose the new refresh token, and with it the connection. */
async function renew(github: GithubAccounts, { refreshToken }: UserTokens): Promise<UserTokens> {
  if (refreshToken === null) throw new ConnectionRefused("the token has expired");
  return github.refresh(refreshToken, AbortSignal.timeout(renewTimeoutMs));
}
