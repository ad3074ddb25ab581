// The person that a run works for, as far as they let the platform act in their name on the host of a repository.
import { RepositoryFault } from "../git/index.ts";
import { ConnectionRefused, type GithubAccounts, type PersonalAccess } from "../scm/index.ts";
import { type AccountId, type AccountStore, findAccount } from "./store.ts";
import { freshToken } from "./tokens.ts";

export interface WhoseRun {
  store: AccountStore;
  /** Null where nobody can connect an account. */
  github: GithubAccounts | null;
}

/** Null where the run works for no user, or the repository is on a host without accounts of users. */
export async function personOf(
  { store, github }: WhoseRun,
  { runId, url }: { runId: string; url: string },
): Promise<PersonalAccess | null> {
  if (github === null || !github.covers(url)) return null;
  const run = await store.db.selectFrom("runs").select("user_id").where("id", "=", runId).executeTakeFirstOrThrow();
  if (run.user_id === null) return null;
  const id: AccountId = { userId: run.user_id, host: github.host };
  return {
    async token() {
      const account = await findAccount(store, id);
      if (account === undefined) throw disconnected(github);
      return freshToken({ store, github, account }).catch((error: unknown) => {
        if (!(error instanceof ConnectionRefused)) throw error;
        throw disconnected(github, error);
      });
    },
    disconnected: (cause) => disconnected(github, cause),
  };
}

const disconnected = ({ host }: GithubAccounts, cause?: unknown): RepositoryFault =>
  new RepositoryFault(
    "integration_not_connected",
    `The platform cannot open a pull request in your name: your account on ${host} is not connected any more. The branch is pushed. Connect the account again on the page /accounts, then send a follow-up.`,
    { cause },
  );
