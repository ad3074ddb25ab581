// Whether a user may read a repository with the account that they connected. The host's answer is cached for a minute.
import type { RepositoryReading } from "../../identity/index.ts";
import type { GithubAccounts } from "../scm/index.ts";
import { readAccountPermission, type UserPermission } from "./permission.ts";
import { type AccountStore, type ConnectedAccount, findAccount } from "./store.ts";

export interface ReadingOptions {
  store: AccountStore;
  github: GithubAccounts | null;
  now(): number;
}

export function openRepositoryReading({ store, github, now }: ReadingOptions): RepositoryReading {
  if (github === null) return { needsAccount: () => false, judge: async () => ({ kind: "granted" }) };
  const { host } = github;
  const query = cacheBriefly(now, async (account, url) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      return await readAccountPermission(account, { store, github, userId: account.userId, url }, timeout);
    } catch (error) {
      if (!timeout.aborted) throw error;
      return { kind: "unknown", reason: `no answer within ${timeoutMs / 1_000} s` };
    }
  });
  return {
    needsAccount: github.covers,
    async judge(userId, url) {
      const account = await findAccount(store, { userId, host });
      if (account === undefined) return { kind: "not connected", host };
      const result = await query(account, url);
      if (result.kind === "unknown") return { ...result, host };
      if (result.kind === "not connected") return { kind: "not connected", host };
      return result.permission === "none" ? { kind: "denied", host, login: result.login } : { kind: "granted" };
    },
  };
}

const timeoutMs = 10_000;
const cacheMs = 60_000;
const maxCacheEntries = 10_000;

type QueryPermission = (account: ConnectedAccount, url: string) => Promise<UserPermission>;

/** Concurrent callers share one request. Only definite answers are cached. */
function cacheBriefly(now: () => number, query: QueryPermission): QueryPermission {
  const cache = new Map<string, { answer: Promise<UserPermission>; until: number }>();
  return (account, url) => {
    const key = `${account.userId}\n${account.accountId}\n${url}`;
    const cached = cache.get(key);
    if (cached && now() < cached.until) return cached.answer;
    if (cache.size >= maxCacheEntries) cache.clear();
    const entry = { answer: query(account, url), until: now() + cacheMs };
    cache.set(key, entry);
    const evict = () => cache.get(key) === entry && cache.delete(key);
    entry.answer.then(({ kind }) => kind === "known" || evict(), evict);
    return entry.answer;
  };
}
