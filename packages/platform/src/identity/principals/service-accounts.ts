// Service accounts of a team: owners of keys that do not depend on a user.
import { randomUUID } from "node:crypto";
import type { Queries } from "../../foundation/index.ts";
import { checkName, PrincipalError } from "./principal-error.ts";

export interface ServiceAccountEntry {
  id: string;
  name: string;
  createdAt: Date;
}

export async function listServiceAccounts(db: Queries, teamId: number): Promise<ServiceAccountEntry[]> {
  const rows = await db
    .selectFrom("service_accounts")
    .select(["id", "name", "created_at"])
    .where("team_id", "=", teamId)
    .orderBy("name")
    .execute();
  return rows.map(({ id, name, created_at }) => ({ id, name, createdAt: created_at }));
}

export async function createServiceAccount(db: Queries, teamId: number, name: string): Promise<ServiceAccountEntry> {
  checkName(name);
  const made = await db
    .insertInto("service_accounts")
    .values({ id: randomUUID(), team_id: teamId, name })
    .onConflict((conflict) => conflict.doNothing())
    .returning(["id", "created_at"])
    .executeTakeFirst();
  if (made) return { id: made.id, name, createdAt: made.created_at };
  throw new PrincipalError(`Service account ${name} already exists. Choose another name.`);
}
