// Users as rows: made or brought back, changed, removed. A team keeps an administrator.
import { type Kysely, sql, type Transaction } from "kysely";
import type { Queries, Tables, UserTable } from "../db/index.ts";
import { isAddress } from "./address.ts";
import type { Role } from "./principal.ts";
import { PrincipalProblem } from "./problem.ts";

export interface UserWish {
  teamId: number;
  email: string;
  role: Role;
}

export const findUser = (db: Queries, email: string) =>
  db
    .selectFrom("users")
    .select(["id", "team_id", "email", "role", "removed_at"])
    .where(isAddress(email))
    .executeTakeFirst();

/** Null where somebody has the address already. One who was removed from the same team is brought back. */
export async function admitUser(db: Queries, { teamId, email, role }: UserWish): Promise<number | null> {
  const known = await findUser(db, email);
  if (known) {
    if (known.removed_at === null || known.team_id !== teamId) return null;
    await db.updateTable("users").set({ role, removed_at: null }).where("id", "=", known.id).execute();
    return known.id;
  }
  const made = await db
    .insertInto("users")
    .values({ team_id: teamId, email, role })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  return made?.id ?? null;
}

export interface KnownUser {
  id: number;
  email: string;
}

/** One after another: two who leave at once would leave the team without any. */
async function keepAdministrator(db: Transaction<Tables>, { id, email }: KnownUser): Promise<void> {
  const team = db.selectFrom("users").select("team_id").where("id", "=", id);
  await db.selectFrom("teams").select("id").where("id", "=", team).forUpdate().execute();
  const administrators = await db
    .selectFrom("users")
    .select("id")
    .where("team_id", "=", team)
    .where("role", "=", "admin")
    .where("removed_at", "is", null)
    .execute();
  if (administrators.length === 1 && administrators[0]?.id === id)
    throw new PrincipalProblem(`${email} is the only administrator of the team. Make another one first.`);
}

export async function changeUser(
  db: Transaction<Tables>,
  user: KnownUser,
  values: Partial<Pick<UserTable, "role" | "spend_limit_usd">>,
): Promise<void> {
  if (values.role === "member") {
    await keepAdministrator(db, user);
    await db
      .updateTable("api_keys")
      .set({ scopes: sql<string[]>`array_remove(scopes, 'admin')` })
      .where("user_id", "=", user.id)
      .execute();
  }
  await db.updateTable("users").set(values).where("id", "=", user.id).execute();
}

/** The row stays, for what the user made; every way in is closed. */
export function removeUser(db: Kysely<Tables>, user: KnownUser): Promise<void> {
  return db.transaction().execute(async (transaction) => {
    await keepAdministrator(transaction, user);
    const now = new Date();
    await transaction.updateTable("users").set({ removed_at: now }).where("id", "=", user.id).execute();
    const keys = transaction.updateTable("api_keys").set({ revoked_at: now }).where("user_id", "=", user.id);
    await keys.where("revoked_at", "is", null).execute();
    const sessions = transaction.updateTable("sessions").set({ ended_at: now }).where("user_id", "=", user.id);
    await sessions.where("ended_at", "is", null).execute();
    // One that was never used would be a way back.
    const team = transaction.selectFrom("users").select("team_id").where("id", "=", user.id);
    const invitations = transaction.updateTable("invitations").set({ revoked_at: now }).where("team_id", "=", team);
    const waiting = invitations.where("accepted_at", "is", null).where("revoked_at", "is", null);
    await waiting.where(isAddress(user.email)).execute();
    for (const table of ["login_links", "identities", "source_accounts"] as const)
      await transaction.deleteFrom(table).where("user_id", "=", user.id).execute();
  });
}
