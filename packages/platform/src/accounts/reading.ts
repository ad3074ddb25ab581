// Whether a user may read a repository, with the account that they connected. What its host says is believed for a minute.
import type { GithubAccounts } from "../scm/index.ts";
import { reachThrough, type UserReach } from "./reach.ts";
import { type AccountStore, type ConnectedAccount, findAccount } from "./store.ts";

export interface RepositoryReading {
  /** Whether users need an account for it; where they do not, it is the team's. */
  needsAccount(url: string): boolean;
  /** Of one that needs an account. */
  judge(userId: number, url: string): Promise<Reading>;
}

export type Reading =
  | { kind: "granted" }
  | { kind: "not connected"; host: string }
  | { kind: "denied"; host: string; login: string }
  | { kind: "unknown"; host: string; reason: string };

export interface ReadingOptions {
  store: AccountStore;
  github: GithubAccounts | null;
  now(): number;
}

export function openRepositoryReading({ store, github, now }: ReadingOptions): RepositoryReading {
  if (github === null) return { needsAccount: () => false, judge: async () => ({ kind: "granted" }) };
  const { host } = github;
  const ask = rememberBriefly(now, async (account, url) => {
    const limit = AbortSignal.timeout(limitMs);
    try {
      return await reachThrough(account, { store, github, userId: account.userId, url }, limit);
    } catch (error) {
      if (!limit.aborted) throw error;
      return { kind: "unknown", reason: `no answer within ${limitMs / 1_000} s` };
    }
  });
  return {
    needsAccount: github.covers,
    async judge(userId, url) {
      const account = await findAccount(store, { userId, host });
      if (account === undefined) return { kind: "not connected", host };
      const known = await ask(account, url);
      if (known.kind === "unknown") return { ...known, host };
      if (known.kind === "not connected") return { kind: "not connected", host };
      return known.reach === "none" ? { kind: "denied", host, login: known.login } : { kind: "granted" };
    },
  };
}

const limitMs = 10_000;
const rememberedMs = 60_000;
const mostRemembered = 10_000;

type Ask = (account: ConnectedAccount, url: string) => Promise<UserReach>;

/** Those who ask meanwhile wait for the same answer. One that is none is not kept. */
function rememberBriefly(now: () => number, ask: Ask): Ask {
  const known = new Map<string, { answer: Promise<UserReach>; until: number }>();
  return (account, url) => {
    const name = `${account.userId}\n${account.accountId}\n${url}`;
    const recent = known.get(name);
    if (recent && now() < recent.until) return recent.answer;
    if (known.size >= mostRemembered) known.clear();
    const entry = { answer: ask(account, url), until: now() + rememberedMs };
    known.set(name, entry);
    const forget = () => known.get(name) === entry && known.delete(name);
    entry.answer.then(({ kind }) => kind === "known" || forget(), forget);
    return entry.answer;
  };
}
