// Repositories on GitHub that a caller can start agents on: those of the platform, and of a user only what they may push to.
import { ApiError } from "../../foundation/index.ts";
import type { Principal } from "../../identity/index.ts";
import { RepositoryFault } from "../git/index.ts";
import { ConnectionRefused, type Github, type GithubAccounts, GithubRefusal } from "../scm/index.ts";
import { type AccountStore, findAccount } from "./store.ts";
import { freshToken } from "./tokens.ts";

const timeoutMs = 60_000;

/** Throws ApiError `unavailable` if GitHub does not answer. */
export async function listOnGithub(store: AccountStore, github: Github, principal: Principal): Promise<string[]> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const { accounts } = github;
    if (accounts === null || principal.kind !== "user") return await github.list(signal);
    const own = await listOfUser({ store, accounts, userId: principal.userId }, signal);
    if (own.size === 0) return [];
    return (await github.list(signal)).filter((url) => own.has(url.toLowerCase()));
  } catch (error) {
    const isRefused = error instanceof RepositoryFault || error instanceof GithubRefusal;
    if (isRefused) throw new ApiError("unavailable", error.message, { retryAfter: 60 });
    if (!signal.aborted) throw error;
    throw new ApiError("unavailable", "GitHub did not list its repositories in time. Try again.", { retryAfter: 60 });
  }
}

interface UserListing {
  store: AccountStore;
  accounts: GithubAccounts;
  userId: number;
}

/** In lower case; empty if the account is not connected. */
async function listOfUser({ store, accounts, userId }: UserListing, signal: AbortSignal): Promise<Set<string>> {
  const account = await findAccount(store, { userId, host: accounts.host });
  if (account === undefined) return new Set();
  try {
    const token = await freshToken({ store, github: accounts, account });
    return new Set((await accounts.listRepositories(token, signal)).map((url) => url.toLowerCase()));
  } catch (error) {
    if (error instanceof ConnectionRefused) return new Set();
    throw error;
  }
}
