// Limits an agent's repository access to what its user may access with the connected account.
import type { GithubAccounts } from "../scm/index.ts";
import { readUserPermission } from "./permission.ts";
import type { AccountStore } from "./store.ts";

export interface UserAccess {
  /** Undefined if access is allowed. Principals that are not users (`null`) are not restricted here. */
  refusal(userId: number | null, url: string, signal: AbortSignal): Promise<AccessRefusal | undefined>;
}

/** The reason, phrased for the user. */
export interface AccessRefusal {
  code: "repository_access" | "integration_not_connected";
  reason: string;
}

export function openUserAccess(store: AccountStore, github: GithubAccounts | null): UserAccess {
  const refuse = (reason: string): AccessRefusal => ({ code: "repository_access", reason });
  return {
    async refusal(userId, url, signal) {
      if (github === null || userId === null || !github.covers(url)) return undefined;
      const result = await readUserPermission({ store, github, userId, url }, signal);
      switch (result.kind) {
        case "not connected":
          return notConnected(github);
        case "known":
          return result.permission === "push"
            ? undefined
            : refuse(`your account ${result.login} on ${github.host} may not push to it`);
        case "unknown":
          // Fail closed: without an answer from the host, access is refused.
          return refuse(`${github.host} could not confirm that you have access (${result.reason}); try again`);
      }
    },
  };
}

const notConnected = ({ host }: GithubAccounts): AccessRefusal => ({
  code: "integration_not_connected",
  reason: `you have to connect your account on ${host} first, on the page /accounts of the platform`,
});
