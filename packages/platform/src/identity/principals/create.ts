// Creates a key, and its team and owner if they do not exist.
import { randomUUID } from "node:crypto";
import type { Kysely } from "kysely";
import { type Queries, type Role, type Scope, scopesOf, type Tables, type Vault } from "../../foundation/index.ts";
import { refuseFormerUser } from "./acting.ts";
import { makeKey } from "./key.ts";
import type { CreatedKey, KeyOwner, KeyRequest } from "./key-types.ts";
import { checkName, PrincipalError } from "./principal-error.ts";
import { claimAddress, findMember, findUser } from "./users.ts";

export async function createKey(db: Kysely<Tables>, vault: Vault, request: KeyRequest): Promise<CreatedKey> {
  checkName(request.name);
  return db.transaction().execute(async (transaction) => {
    await refuseFormerUser(transaction);
    const team = await ensureTeam(transaction, vault, request.team);
    const owner = await ensureOwner(transaction, team, request.owner);
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

export async function ensureTeam(db: Queries, vault: Vault, name: string): Promise<Team> {
  checkName(name);
  const find = () => db.selectFrom("teams").select(["id", "name"]).where("name", "=", name).executeTakeFirst();
  const existing = await find();
  if (existing) return existing;
  const { wrapped } = await vault.newDataKey();
  const insert = db.insertInto("teams").values({ name, data_key: wrapped });
  await insert.onConflict((conflict) => conflict.doNothing()).execute();
  return (await find()) ?? expected(`team ${name}`);
}

/** The administrator of an empty platform; `admin@localhost` if no address is given. */
export function createFirstUser(db: Kysely<Tables>, vault: Vault, email: string | null): Promise<{ id: number }> {
  return db.transaction().execute(async (transaction) => {
    const team = await ensureTeam(transaction, vault, firstTeam);
    return email === null ? ensureAdministrator(transaction, team) : ensureUser(transaction, team, email);
  });
}

interface Owner {
  userId: number | null;
  serviceAccountId: string | null;
  role: Role | null;
}

async function ensureOwner(db: Queries, team: Team, owner: KeyOwner): Promise<Owner> {
  if (owner.kind === "service_account")
    return { userId: null, serviceAccountId: await ensureServiceAccount(db, team, owner.name), role: null };
  const user = owner.email === null ? await ensureAdministrator(db, team) : await ensureUser(db, team, owner.email);
  return { userId: user.id, serviceAccountId: null, role: user.role };
}

interface User {
  id: number;
  role: Role;
}

async function ensureAdministrator(db: Queries, team: Team): Promise<User> {
  const first = db
    .selectFrom("users")
    .select(["id", "role"])
    .where("team_id", "=", team.id)
    .where("role", "=", "admin")
    .where("removed_at", "is", null);
  const existing = await first.orderBy("id").executeTakeFirst();
  return existing ?? ensureUser(db, team, team.name === firstTeam ? "admin@localhost" : `admin@${team.name}.localhost`);
}

async function ensureUser(db: Queries, team: Team, email: string): Promise<User> {
  const existing =
    (await findMember(db, team.id, email)) ??
    (await claimAddress(db, team.id, email)) ??
    (await addUser(db, team, email)) ??
    (await findUser(db, email)) ??
    expected(`user ${email}`);
  if (existing.team_id !== team.id)
    throw new PrincipalError(`${email} belongs to a team other than ${team.name}. Name that team, or another user.`);
  if (existing.removed_at !== null)
    throw new PrincipalError(`${email} was removed. Restore the user: platform users create ${email}.`);
  return existing;
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

/** Its id. */
export async function ensureServiceAccount(db: Queries, team: Pick<Team, "id">, name: string): Promise<string> {
  checkName(name);
  const insert = await db
    .insertInto("service_accounts")
    .values({ id: randomUUID(), team_id: team.id, name })
    // A no-op update, so that the row is returned in either case.
    .onConflict((conflict) => conflict.columns(["team_id", "name"]).doUpdateSet({ name }))
    .returning("id")
    .executeTakeFirstOrThrow();
  return insert.id;
}

/** All scopes of the owner, unless fewer were requested. */
function grantedScopes(requested: Scope[] | null, role: Role | null): Scope[] {
  const possible = scopesOf(role);
  const refused = requested?.find((scope) => !possible.includes(scope));
  if (refused)
    throw new PrincipalError(
      `The scope ${refused} is only for keys of administrators. Leave it out, or name an administrator.`,
    );
  return requested ?? possible;
}

function expected(what: string): never {
  throw new Error(`${what} was neither found nor created`);
}
