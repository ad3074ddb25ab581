// A user's token as it can be used now. One that ends is renewed once, however many servers want it at the same time:
// what it is renewed with is good for a single use.
import { patiently } from "../db/index.ts";
import { ConnectionRefused, type GithubAccounts, type UserTokens } from "../scm/index.ts";
import {
  type AccountId,
  type AccountStore,
  type ConnectedAccount,
  findAccount,
  lockAccount,
  writeTokens,
} from "./store.ts";

export interface TokenWish {
  store: AccountStore;
  github: GithubAccounts;
  account: ConnectedAccount;
}

/** Throws ConnectionRefused where the person has to connect again. */
export async function freshToken({ store, github, account }: TokenWish): Promise<string> {
  if (isGood(account.tokens)) return account.tokens.token;
  let renewed: UserTokens | undefined;
  try {
    return await store.db.transaction().execute(async (transaction) => {
      const current = await currentAccount({ ...store, db: transaction }, account);
      if (isGood(current.tokens)) return current.tokens.token;
      renewed = await renew(github, current.tokens);
      await writeTokens({ ...store, db: transaction }, account, renewed);
      return renewed.token;
    });
  } catch (error) {
    if (renewed === undefined) throw error;
    // The host has taken the old ones back: what it gave for them must not be lost with the transaction.
    const { token } = renewed;
    await patiently(() => writeTokens(store, account, renewed as UserTokens));
    return token;
  }
}

/** Once it is our turn; another server may have renewed them meanwhile, or the person may have gone away. */
async function currentAccount(store: AccountStore, id: AccountId): Promise<ConnectedAccount> {
  await lockAccount(store.db, id);
  const current = await findAccount(store, id);
  if (current === undefined) throw new ConnectionRefused("the account was disconnected");
  return current;
}

const spareMs = 5 * 60_000;

const isGood = ({ expiresAt }: UserTokens): boolean => expiresAt === null || expiresAt - spareMs > Date.now();

const renewLimitMs = 20_000;

/** Not for the caller to break off: an answer that nobody hears is a connection lost. */
async function renew(github: GithubAccounts, { refreshToken }: UserTokens): Promise<UserTokens> {
  if (refreshToken === null) throw new ConnectionRefused("the token has ended");
  return github.refresh(refreshToken, AbortSignal.timeout(renewLimitMs));
}
