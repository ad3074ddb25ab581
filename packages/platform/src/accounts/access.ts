// What an agent may reach for a user: no more than the user may with the account that they connected.
import type { GithubAccounts } from "../scm/index.ts";
import { reachOf } from "./reach.ts";
import type { AccountStore } from "./store.ts";

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
  const refuse = (reason: string): AccessRefusal => ({ code: "repository_access", reason });
  return {
    async refusal(userId, url, signal) {
      if (github === null || userId === null || !github.covers(url)) return undefined;
      const known = await reachOf({ store, github, userId, url }, signal);
      switch (known.kind) {
        case "not connected":
          return notConnected(github);
        case "known":
          return known.reach === "push"
            ? undefined
            : refuse(`your account ${known.login} on ${github.host} may not push to it`);
        case "unknown":
          // Nobody gets in because the door was not watched.
          return refuse(`${github.host} could not be asked whether you may reach it (${known.reason}); try again`);
      }
    },
  };
}

const notConnected = ({ host }: GithubAccounts): AccessRefusal => ({
  code: "integration_not_connected",
  reason: `you have to connect your account on ${host} first, on the page /accounts of the platform`,
});
