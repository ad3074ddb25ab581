// Stores users' accounts on source hosts. Tokens are sealed with the team's data key.
import type { Kysely } from "kysely";
import type { DataKey, Tables, Vault } from "../../foundation/index.ts";
import { refuseFormerUser } from "../../identity/index.ts";
import type { UserTokens } from "../scm/index.ts";

export interface AccountStore {
  db: Kysely<Tables>;
  vault: Vault;
}

export interface Account {
  host: string;
  login: string;
  connectedAt: Date;
}

export interface AccountId {
  userId: number;
  host: string;
}

export async function listAccounts(db: Kysely<Tables>, userId: number): Promise<Account[]> {
  const rows = await db.selectFrom("source_accounts").selectAll().where("user_id", "=", userId).execute();
  return rows.map(({ host, login, created_at }) => ({ host, login, connectedAt: created_at }));
}

/** False if there is none. */
export async function removeAccount(db: Kysely<Tables>, { userId, host }: AccountId): Promise<boolean> {
  const own = db.deleteFrom("source_accounts").where("user_id", "=", userId).where("host", "=", host);
  return (await own.executeTakeFirst()).numDeletedRows > 0n;
}

export interface ConnectedAccount extends AccountId {
  accountId: string;
  login: string;
  tokens: UserTokens;
}

export async function saveAccount({ db, vault }: AccountStore, account: ConnectedAccount): Promise<void> {
  const { userId, host, accountId, login, tokens } = account;
  const key = await keyOf({ db, vault }, userId);
  const values = {
    account_id: accountId,
    login,
    token: key.seal(JSON.stringify(tokens), sealContextOf({ userId, host })),
    created_at: new Date(),
  };
  await db.transaction().execute(async (tx) => {
    await refuseFormerUser(tx);
    await tx
      .insertInto("source_accounts")
      .values({ user_id: userId, host, ...values })
      .onConflict((conflict) => conflict.columns(["user_id", "host"]).doUpdateSet(values))
      .execute();
  });
}

/** Locks the row until the end of the transaction. */
export async function lockAccount(db: Kysely<Tables>, { userId, host }: AccountId): Promise<void> {
  const query = db.selectFrom("source_accounts").select("user_id").where("user_id", "=", userId);
  await query.where("host", "=", host).forUpdate().execute();
}

/** Updates only an existing row: an account that was disconnected meanwhile is not restored. */
export async function writeTokens(store: AccountStore, id: AccountId, tokens: UserTokens): Promise<void> {
  const key = await keyOf(store, id.userId);
  await store.db
    .updateTable("source_accounts")
    .set({ token: key.seal(JSON.stringify(tokens), sealContextOf(id)) })
    .where("user_id", "=", id.userId)
    .where("host", "=", id.host)
    .execute();
}

/** Undefined if the user has no connected account on this host. */
export async function findAccount(store: AccountStore, id: AccountId): Promise<ConnectedAccount | undefined> {
  const row = await store.db
    .selectFrom("source_accounts")
    .selectAll()
    .where("user_id", "=", id.userId)
    .where("host", "=", id.host)
    .executeTakeFirst();
  if (!row?.token) return undefined;
  const key = await keyOf(store, id.userId);
  return {
    ...id,
    accountId: row.account_id,
    login: row.login,
    tokens: JSON.parse(key.openText(row.token, sealContextOf(id))),
  };
}

const sealContextOf = ({ userId, host }: AccountId): string => `source-account:${userId}:${host}`;

async function keyOf({ db, vault }: AccountStore, userId: number): Promise<DataKey> {
  const { data_key } = await db
    .selectFrom("users")
    .innerJoin("teams", "teams.id", "users.team_id")
    .select("data_key")
    .where("users.id", "=", userId)
    .executeTakeFirstOrThrow();
  return vault.unwrap(data_key);
}

/** The login of the run's user on this host; empty if none is connected. */
export async function reviewersOf(
  db: Kysely<Tables>,
  { runId, host }: { runId: string; host: string },
): Promise<string[]> {
  const accounts = await db
    .selectFrom("runs")
    .innerJoin("source_accounts", "source_accounts.user_id", "runs.user_id")
    .select("login")
    .where("runs.id", "=", runId)
    .where("host", "=", host)
    .execute();
  return accounts.map(({ login }) => login);
}
