// What an agent may reach for a user: no more than the user may with the account that they connected.
import type { GithubAccounts } from "../scm/index.ts";
import { reachOf } from "./reach.ts";
import type { AccountStore } from "./store.ts";

export interface UserAccess {
  /** Why not, in words for the user; undefined where they may. Whoever is no user is not judged here. */
  refusal(userId: number | null, url: string, signal: AbortSignal): Promise<string | undefined>;
}

export function openUserAccess(store: AccountStore, github: GithubAccounts | null): UserAccess {
  return {
    async refusal(userId, url, signal) {
      if (github === null || userId === null || !github.covers(url)) return undefined;
      const known = await reachOf({ store, github, userId, url }, signal);
      switch (known.kind) {
        case "not connected":
          return `you have to connect your account on ${github.host} first, on the page /accounts of the platform`;
        case "known":
          return known.reach === "push"
            ? undefined
            : `your account ${known.login} on ${github.host} may not push to it`;
        case "unknown":
          // Nobody gets in because the door was not watched.
          return `${github.host} could not be asked whether you may reach it (${known.reason}); try again`;
      }
    },
  };
}
