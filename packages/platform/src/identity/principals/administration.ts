// Teams and users, as the operator lists and changes them.
import type { Kysely } from "kysely";
import type { FollowUps, Role, Tables, Vault } from "../../foundation/index.ts";
import { isAddress } from "./address.ts";
import { ensureTeam } from "./create.ts";
import { PrincipalError } from "./principal-error.ts";
import { setFollowUps, setSpendLimit } from "./teams.ts";
import { admitUser, changeUser, removeUser } from "./users.ts";

export interface TeamEntry {
  id: number;
  name: string;
  users: number;
  /** USD per calendar month; null means no limit. */
  spendLimitUsd: number | null;
  followUps: FollowUps;
  createdAt: Date;
}

/** Which agents accept follow-ups from users other than their owner. */
export const followUps: readonly FollowUps[] = ["disabled", "service_accounts", "all"];

/** Without a team: of several users with the address, the one to whom it belongs (see `findUser`). */
export interface UserAddress {
  email: string;
  team?: string;
}

export interface UserEntry {
  id: number;
  email: string;
  team: string;
  role: Role;
  spendLimitUsd: number | null;
  createdAt: Date;
}

/** Null removes the limit; absent leaves it unchanged. */
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
  /** The first user of a team becomes its administrator, whatever role was requested. */
  createUser(request: { email: string; team: string; role: Role | null }): Promise<UserEntry>;
  /** Refused for the last administrator. Keys of a demoted administrator lose the admin scope. */
  changeUser(which: UserAddress, change: UserChange): Promise<UserEntry>;
  findUser(which: UserAddress): Promise<UserEntry>;
  /** Also ends the user's keys and sessions. Refused for the last administrator. */
  removeUser(which: UserAddress): Promise<void>;
}

export function openAdministration(db: Kysely<Tables>, vault: Vault): Administration {
  return {
    listTeams: () => listTeams(db, null),
    async createTeam(name) {
      if ((await listTeams(db, name)).length > 0)
        throw new PrincipalError(`Team ${name} already exists. Choose another name.`);
      await ensureTeam(db, vault, name);
      return findTeam(db, name);
    },
    async changeTeam(name, change) {
      const { id } = await findTeam(db, name);
      const { spendLimitUsd: monthlyUsd } = change;
      await db.transaction().execute(async (tx) => {
        if (change.followUps !== undefined) await setFollowUps(tx, id, change.followUps);
        if (monthlyUsd !== undefined) await setSpendLimit(tx, id, { monthlyUsd, by: "operator" });
      });
      return findTeam(db, name);
    },
    async listUsers(team) {
      if (team !== null) await findTeam(db, team);
      return listUsers(db, team === null ? {} : { team });
    },
    async createUser({ email, team, role }) {
      const { id: teamId, users } = await findTeam(db, team);
      const grantedRole = users === 0 ? "admin" : (role ?? "member");
      if ((await admitUser(db, { teamId, email, role: grantedRole })) === null)
        throw new PrincipalError(`User ${email} already exists. Change it: platform users set ${email}.`);
      return findUserByAddress(db, { email, team });
    },
    async changeUser(which, change) {
      const user = await findUserByAddress(db, which);
      const values = { ...(change.role !== undefined && { role: change.role }), ...limitOf(change) };
      await db.transaction().execute((transaction) => changeUser(transaction, user, values));
      return findUserByAddress(db, which);
    },
    findUser: (which) => findUserByAddress(db, which),
    async removeUser(which) {
      await removeUser(db, await findUserByAddress(db, which));
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
    .orderBy("users.has_shared_address")
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

async function findTeam(db: Kysely<Tables>, name: string): Promise<TeamEntry> {
  const [team] = await listTeams(db, name);
  if (team) return team;
  throw new PrincipalError(`There is no team ${name}. To list teams: platform teams list`);
}

async function findUserByAddress(db: Kysely<Tables>, { email, team }: UserAddress): Promise<UserEntry> {
  const [user] = await listUsers(db, { email, ...(team !== undefined && { team }) });
  if (user) return user;
  throw new PrincipalError(`There is no user ${email}. To list users: platform users list`);
}
