// The person that a run works for, if they allow the platform to act on their behalf on the repository's host.
import { RepositoryFault } from "../git/index.ts";
import { ConnectionRefused, type GithubAccounts, type PersonalAccess } from "../scm/index.ts";
import { type AccountId, type AccountStore, findAccount } from "./store.ts";
import { freshToken } from "./tokens.ts";

export interface PersonOptions {
  store: AccountStore;
  /** Null if users cannot connect accounts. */
  github: GithubAccounts | null;
}

/** Null if the run does not belong to a user, or the repository's host has no user accounts. */
export async function personOf(
  { store, github }: PersonOptions,
  { runId, url }: { runId: string; url: string },
): Promise<PersonalAccess | null> {
  if (github === null || !github.covers(url)) return null;
  const run = await store.db
    .selectFrom("runs")
    .select(["user_id", "agent_id"])
    .where("id", "=", runId)
    .executeTakeFirstOrThrow();
  if (run.user_id === null || (await isOfTeamAutomation(store, run.agent_id))) return null;
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

/** What an automation that the team sees does on the host is done by the bot, also when the firing is gone. */
async function isOfTeamAutomation({ db }: AccountStore, agentId: string): Promise<boolean> {
  const row = await db
    .selectFrom("automations")
    .select("id")
    .where("scope", "<>", "private")
    .where("id", "in", (query) =>
      query
        .selectFrom("automation_firings")
        .select("automation_id")
        .where("agent_id", "=", agentId)
        .union(query.selectFrom("automation_agents").select("automation_id").where("agent_id", "=", agentId)),
    )
    .executeTakeFirst();
  return row !== undefined;
}

const disconnected = ({ host }: GithubAccounts, cause?: unknown): RepositoryFault =>
  new RepositoryFault(
    "integration_not_connected",
    `The platform cannot open a pull request in your name: your account on ${host} is no longer connected. The branch is pushed. Connect the account again on the page /accounts, then send a follow-up.`,
    { cause },
  );
