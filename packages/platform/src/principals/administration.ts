// Teams and users as whoever looks after the platform sees and changes them.
import type { Kysely } from "kysely";
import type { FollowUps, Tables } from "../db/index.ts";
import type { Vault } from "../vault/index.ts";
import { isAddress } from "./address.ts";
import { provideTeam } from "./create.ts";
import type { Role } from "./principal.ts";
import { PrincipalProblem } from "./problem.ts";
import { admitUser, changeUser, removeUser } from "./users.ts";

export interface TeamEntry {
  id: number;
  name: string;
  users: number;
  /** USD per calendar month; null is no limit. */
  spendLimitUsd: number | null;
  followUps: FollowUps;
  createdAt: Date;
}

/** Which agents take follow-ups from others than their owner. */
export const followUps: readonly FollowUps[] = ["disabled", "service_accounts", "all"];

export interface UserEntry {
  id: number;
  email: string;
  team: string;
  role: Role;
  spendLimitUsd: number | null;
  createdAt: Date;
}

/** Null takes it away; what is absent stays. */
export interface LimitChange {
  spendLimitUsd?: number | null;
}

export interface TeamChange extends LimitChange {
  followUps?: FollowUps;
}

export interface UserChange extends LimitChange {
  role?: Role;
}

export interface Administration {
  listTeams(): Promise<TeamEntry[]>;
  createTeam(name: string): Promise<TeamEntry>;
  changeTeam(name: string, change: TeamChange): Promise<TeamEntry>;
  /** Of one team, or of all. */
  listUsers(team: string | null): Promise<UserEntry[]>;
  /** The first user of a team is its administrator, whatever was asked for. */
  createUser(wish: { email: string; team: string; role: Role | null }): Promise<UserEntry>;
  /** A team keeps an administrator; keys of one who no longer is lose what only administrators may. */
  changeUser(email: string, change: UserChange): Promise<UserEntry>;
  findUser(email: string): Promise<UserEntry>;
  /** Ends the keys and sessions of the user with it. A team keeps an administrator. */
  removeUser(email: string): Promise<void>;
}

export function openAdministration(db: Kysely<Tables>, vault: Vault): Administration {
  return {
    listTeams: () => listTeams(db, null),
    async createTeam(name) {
      if ((await listTeams(db, name)).length > 0)
        throw new PrincipalProblem(`There is a team ${name} already. Choose another name.`);
      await provideTeam(db, vault, name);
      return teamCalled(db, name);
    },
    async changeTeam(name, change) {
      const { id } = await teamCalled(db, name);
      const values = { ...limitOf(change), ...(change.followUps !== undefined && { follow_ups: change.followUps }) };
      await db.updateTable("teams").set(values).where("id", "=", id).execute();
      return teamCalled(db, name);
    },
    async listUsers(team) {
      if (team !== null) await teamCalled(db, team);
      return listUsers(db, team === null ? {} : { team });
    },
    async createUser({ email, team, role }) {
      const { id: teamId, users } = await teamCalled(db, team);
      const given = users === 0 ? "admin" : (role ?? "member");
      if ((await admitUser(db, { teamId, email, role: given })) === null)
        throw new PrincipalProblem(`There is a user ${email} already. Change it: platform users set ${email}.`);
      return userCalled(db, email);
    },
    async changeUser(email, change) {
      const user = await userCalled(db, email);
      const values = { ...(change.role !== undefined && { role: change.role }), ...limitOf(change) };
      await db.transaction().execute((transaction) => changeUser(transaction, user, values));
      return userCalled(db, email);
    },
    findUser: (email) => userCalled(db, email),
    async removeUser(email) {
      await removeUser(db, await userCalled(db, email));
    },
  };
}

const limitOf = ({ spendLimitUsd }: LimitChange): { spend_limit_usd?: string | null } =>
  spendLimitUsd === undefined ? {} : { spend_limit_usd: spendLimitUsd === null ? null : String(spendLimitUsd) };

async function listTeams(db: Kysely<Tables>, name: string | null): Promise<TeamEntry[]> {
  const all = db
    .selectFrom("teams")
    .selectAll()
    .select((query) =>
      query
        .selectFrom("users")
        .select(({ fn }) => fn.countAll<number>().as("count"))
        .whereRef("users.team_id", "=", "teams.id")
        .where("users.removed_at", "is", null)
        .as("users"),
    )
    .orderBy("id");
  const rows = await (name === null ? all : all.where("name", "=", name)).execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    users: row.users ?? 0,
    spendLimitUsd: limitIn(row.spend_limit_usd),
    followUps: row.follow_ups,
    createdAt: row.created_at,
  }));
}

async function listUsers(db: Kysely<Tables>, which: { team?: string; email?: string }): Promise<UserEntry[]> {
  let query = db
    .selectFrom("users")
    .innerJoin("teams", "teams.id", "users.team_id")
    .selectAll("users")
    .select("teams.name as team")
    .where("removed_at", "is", null)
    .orderBy("users.id");
  if (which.team !== undefined) query = query.where("teams.name", "=", which.team);
  if (which.email !== undefined) query = query.where(isAddress(which.email));
  return (await query.execute()).map((row) => ({
    id: row.id,
    email: row.email,
    team: row.team,
    role: row.role,
    spendLimitUsd: limitIn(row.spend_limit_usd),
    createdAt: row.created_at,
  }));
}

const limitIn = (text: string | null): number | null => (text === null ? null : Number(text));

async function teamCalled(db: Kysely<Tables>, name: string): Promise<TeamEntry> {
  const [team] = await listTeams(db, name);
  if (team) return team;
  throw new PrincipalProblem(`There is no team ${name}. platform teams list shows them.`);
}

async function userCalled(db: Kysely<Tables>, email: string): Promise<UserEntry> {
  const [user] = await listUsers(db, { email });
  if (user) return user;
  throw new PrincipalProblem(`There is no user ${email}. platform users list shows them.`);
}
