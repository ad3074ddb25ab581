// Accounts of users on source hosts, as they are kept. Tokens are sealed with the key of the team.
import type { Kysely } from "kysely";
import type { Tables } from "../db/index.ts";
import type { UserTokens } from "../scm/index.ts";
import type { DataKey, Vault } from "../vault/index.ts";

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

export async function removeAccount(db: Kysely<Tables>, { userId, host }: AccountId): Promise<void> {
  await db.deleteFrom("source_accounts").where("user_id", "=", userId).where("host", "=", host).execute();
}

export interface ConnectedAccount extends AccountId {
  accountId: string;
  login: string;
  tokens: UserTokens;
}

export async function keepAccount({ db, vault }: AccountStore, account: ConnectedAccount): Promise<void> {
  const { userId, host, accountId, login, tokens } = account;
  const key = await keyOf({ db, vault }, userId);
  const known = {
    account_id: accountId,
    login,
    token: key.seal(JSON.stringify(tokens), placeOf({ userId, host })),
    created_at: new Date(),
  };
  await db
    .insertInto("source_accounts")
    .values({ user_id: userId, host, ...known })
    .onConflict((conflict) => conflict.columns(["user_id", "host"]).doUpdateSet(known))
    .execute();
}

/** Whoever wants the same one waits, until the transaction ends. */
export async function lockAccount(db: Kysely<Tables>, { userId, host }: AccountId): Promise<void> {
  const query = db.selectFrom("source_accounts").select("user_id").where("user_id", "=", userId);
  await query.where("host", "=", host).forUpdate().execute();
}

/** Of an account that is there: one that was disconnected meanwhile does not come back. */
export async function writeTokens(store: AccountStore, id: AccountId, tokens: UserTokens): Promise<void> {
  const key = await keyOf(store, id.userId);
  await store.db
    .updateTable("source_accounts")
    .set({ token: key.seal(JSON.stringify(tokens), placeOf(id)) })
    .where("user_id", "=", id.userId)
    .where("host", "=", id.host)
    .execute();
}

/** Undefined where the user has connected none there. */
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
    tokens: JSON.parse(key.openText(row.token, placeOf(id))),
  };
}

const placeOf = ({ userId, host }: AccountId): string => `source-account:${userId}:${host}`;

async function keyOf({ db, vault }: AccountStore, userId: number): Promise<DataKey> {
  const { data_key } = await db
    .selectFrom("users")
    .innerJoin("teams", "teams.id", "users.team_id")
    .select("data_key")
    .where("users.id", "=", userId)
    .executeTakeFirstOrThrow();
  return vault.unwrap(data_key);
}

/** The person that a run worked for, by their name on the host of its repository. */
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
