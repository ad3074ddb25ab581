// Makes a key, and its team and owner where they do not exist yet.
import { randomUUID } from "node:crypto";
import type { Kysely } from "kysely";
import type { Queries, Tables } from "../db/index.ts";
import type { Vault } from "../vault/index.ts";
import { makeKey } from "./key.ts";
import { type Role, type Scope, scopesOf } from "./principal.ts";
import type { CreatedKey, KeyOwner, KeyRequest } from "./principals.ts";
import { PrincipalProblem } from "./problem.ts";
import { findUser } from "./users.ts";

export function createKey(db: Kysely<Tables>, vault: Vault, request: KeyRequest): Promise<CreatedKey> {
  return db.transaction().execute(async (transaction) => {
    const team = await provideTeam(transaction, vault, request.team);
    const owner = await provideOwner(transaction, team, request.owner);
    const { id, key, hash } = makeKey();
    await transaction
      .insertInto("api_keys")
      .values({
        id,
        hash,
        name: request.name,
        team_id: team.id,
        user_id: owner.userId,
        service_account_id: owner.serviceAccountId,
        scopes: grantedScopes(request.scopes, owner.role),
        expires_at: request.expiresAt,
        revoked_at: null,
      })
      .execute();
    return { id, key, teamId: team.id };
  });
}

const firstTeam = "default";

interface Team {
  id: number;
  name: string;
}

export async function provideTeam(db: Queries, vault: Vault, name: string): Promise<Team> {
  const find = () => db.selectFrom("teams").select(["id", "name"]).where("name", "=", name).executeTakeFirst();
  const known = await find();
  if (known) return known;
  const { wrapped } = await vault.newDataKey();
  const made = db.insertInto("teams").values({ name, data_key: wrapped });
  await made.onConflict((conflict) => conflict.doNothing()).execute();
  return (await find()) ?? expected(`team ${name}`);
}

/** The administrator of an empty platform. Nobody named is `admin@localhost`. */
export function createFirstUser(db: Kysely<Tables>, vault: Vault, email: string | null): Promise<{ id: number }> {
  return db.transaction().execute(async (transaction) => {
    const team = await provideTeam(transaction, vault, firstTeam);
    return email === null ? provideAdministrator(transaction, team) : provideUser(transaction, team, email);
  });
}

interface Owner {
  userId: number | null;
  serviceAccountId: string | null;
  role: Role | null;
}

async function provideOwner(db: Queries, team: Team, owner: KeyOwner): Promise<Owner> {
  if (owner.kind === "service_account")
    return { userId: null, serviceAccountId: await provideServiceAccount(db, team, owner.name), role: null };
  const user = owner.email === null ? await provideAdministrator(db, team) : await provideUser(db, team, owner.email);
  return { userId: user.id, serviceAccountId: null, role: user.role };
}

interface User {
  id: number;
  role: Role;
}

async function provideAdministrator(db: Queries, team: Team): Promise<User> {
  const first = db
    .selectFrom("users")
    .select(["id", "role"])
    .where("team_id", "=", team.id)
    .where("role", "=", "admin")
    .where("removed_at", "is", null);
  const known = await first.orderBy("id").executeTakeFirst();
  return known ?? provideUser(db, team, team.name === firstTeam ? "admin@localhost" : `admin@${team.name}.localhost`);
}

async function provideUser(db: Queries, team: Team, email: string): Promise<User> {
  const known =
    (await findUser(db, email)) ??
    (await addUser(db, team, email)) ??
    (await findUser(db, email)) ??
    expected(`user ${email}`);
  if (known.team_id !== team.id)
    throw new PrincipalProblem(`${email} belongs to another team than ${team.name}. Name that team, or another user.`);
  if (known.removed_at !== null)
    throw new PrincipalProblem(`${email} was removed. Bring the user back: platform users create ${email}.`);
  return known;
}

async function addUser(db: Queries, team: Team, email: string) {
  const others = await db.selectFrom("users").select("id").where("team_id", "=", team.id).executeTakeFirst();
  return db
    .insertInto("users")
    .values({ team_id: team.id, email, role: others ? "member" : "admin" })
    .onConflict((conflict) => conflict.doNothing())
    .returning(["id", "role", "team_id", "removed_at"])
    .executeTakeFirst();
}

async function provideServiceAccount(db: Queries, team: Team, name: string): Promise<string> {
  const made = await db
    .insertInto("service_accounts")
    .values({ id: randomUUID(), team_id: team.id, name })
    // Changes nothing, but then the row is returned in either case.
    .onConflict((conflict) => conflict.columns(["team_id", "name"]).doUpdateSet({ name }))
    .returning("id")
    .executeTakeFirstOrThrow();
  return made.id;
}

/** All that the owner may do, unless less was asked for. */
function grantedScopes(wanted: Scope[] | null, role: Role | null): Scope[] {
  const possible = scopesOf(role);
  const refused = wanted?.find((scope) => !possible.includes(scope));
  if (refused)
    throw new PrincipalProblem(`The scope ${refused} is only for keys of administrators. Leave it out, or name one.`);
  return wanted ?? possible;
}

function expected(what: string): never {
  throw new Error(`${what} was neither found nor made`);
}
