// Browser sessions as rows: ending one takes effect on every server with the next request.
import { type Kysely, sql } from "kysely";
import type { SessionTable, Tables } from "../../foundation/index.ts";
import { type Principal, refuseFormerUser, scopesOf } from "../principals/index.ts";
import { formTokenOf, hashSecret, isSecret, makeSecret } from "./secret.ts";

export interface Sessions {
  /** The secret is only in the result. */
  begin(userId: number, method: SessionMethod): Promise<string>;
  /** Null if it has ended or its user was removed. Extends the session. */
  find(secret: string): Promise<Session | null>;
  /** Its user as of now, without extending it; null if it has ended or its user was removed. */
  findUser(id: string): Promise<Session["principal"] | null>;
  end(secret: string): Promise<void>;
  /** Active sessions, most recent first. */
  list(userId: number): Promise<SessionEntry[]>;
  /** By user id, for the users of a team who are logged in. */
  presence(teamId: number): Promise<Map<number, Presence>>;
  /** Ends one session of the user, or all; returns how many. */
  endOf(userId: number, which: { id: string } | "all"): Promise<number>;
}

export type SessionMethod = SessionTable["method"];

export interface Session {
  id: string;
  /** Its user joined by a link and has proved no address. */
  isUnproved: boolean;
  principal: Principal & { kind: "user" };
  /** CSRF token in every form: another site can make the browser send its cookie, but cannot read this. */
  formToken: string;
}

export interface Presence {
  sessions: number;
  lastSeenAt: Date;
}

export interface SessionEntry {
  id: string;
  method: SessionMethod;
  createdAt: Date;
  lastSeenAt: Date;
  expiresAt: Date;
}

const idleTimeoutMs = 12 * 3_600_000;
const maxAgeMs = 7 * 24 * 3_600_000;
/** One write per minute is enough for presence. */
const lastSeenPrecisionMs = 60_000;

export function openSessions(db: Kysely<Tables>, now: () => Date): Sessions {
  const later = (ms: number) => new Date(now().getTime() + ms);
  return {
    async begin(userId, method) {
      const { id, secret, hash } = makeSecret();
      const at = now();
      const times = { created_at: at, last_seen_at: at, expires_at: later(idleTimeoutMs) };
      await db.transaction().execute(async (tx) => {
        await refuseFormerUser(tx);
        await tx
          .insertInto("sessions")
          .values({ id, user_id: userId, hash, method, ...times })
          .execute();
      });
      return secret;
    },
    async find(secret) {
      if (!isSecret(secret)) return null;
      const row = await findRow(db, secret, now());
      if (!row) return null;
      if (row.last_seen_at <= later(-lastSeenPrecisionMs)) await extendSession(db, row.id, now());
      const { id, joined_by_link: isUnproved } = row;
      return { id, isUnproved, principal: principalOf(row), formToken: formTokenOf(secret) };
    },
    async findUser(id) {
      const row = await withUsers(db, now()).where("sessions.id", "=", id).executeTakeFirst();
      return row ? principalOf(row) : null;
    },
    async end(secret) {
      const own = db.updateTable("sessions").set({ ended_at: now() }).where("hash", "=", hashSecret(secret));
      await own.where("ended_at", "is", null).execute();
    },
    async list(userId) {
      const rows = await open(db, now()).where("user_id", "=", userId).orderBy("last_seen_at", "desc").execute();
      return rows.map((row) => ({
        id: row.id,
        method: row.method,
        createdAt: row.created_at,
        lastSeenAt: row.last_seen_at,
        expiresAt: row.expires_at,
      }));
    },
    presence: (teamId) => presence(db, teamId, now()),
    async endOf(userId, which) {
      const all = db.updateTable("sessions").set({ ended_at: now() }).where("user_id", "=", userId);
      const selected = which === "all" ? all : all.where("id", "=", which.id);
      const alive = selected.where("ended_at", "is", null).where("expires_at", ">", now());
      return Number((await alive.executeTakeFirst()).numUpdatedRows);
    },
  };
}

const open = (db: Kysely<Tables>, now: Date) =>
  db.selectFrom("sessions").selectAll("sessions").where("ended_at", "is", null).where("expires_at", ">", now);

const withUsers = (db: Kysely<Tables>, now: Date) =>
  open(db, now)
    .innerJoin("users", "users.id", "sessions.user_id")
    .select(["team_id", "email", "first_name", "last_name", "role", "joined_by_link"])
    .where("users.removed_at", "is", null);

const findRow = (db: Kysely<Tables>, secret: string, now: Date) =>
  withUsers(db, now).where("hash", "=", hashSecret(secret)).executeTakeFirst();

type Row = NonNullable<Awaited<ReturnType<typeof findRow>>>;

const principalOf = (row: Row): Session["principal"] => ({
  kind: "user",
  teamId: row.team_id,
  keyId: row.id,
  keyName: "session",
  createdAt: row.created_at,
  scopes: scopesOf(row.role),
  userId: row.user_id,
  email: row.email,
  firstName: row.first_name,
  lastName: row.last_name,
  role: row.role,
});

async function extendSession(db: Kysely<Tables>, id: string, now: Date): Promise<void> {
  const expiry = new Date(now.getTime() + idleTimeoutMs);
  await db
    .updateTable("sessions")
    .set({
      last_seen_at: now,
      expires_at: sql<Date>`least(${expiry}::timestamptz, created_at + ${maxAgeMs} * interval '1 millisecond')`,
    })
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .execute();
}

async function presence(db: Kysely<Tables>, teamId: number, now: Date): Promise<Map<number, Presence>> {
  const rows = await db
    .selectFrom("sessions")
    .innerJoin("users", "users.id", "sessions.user_id")
    .select(({ fn }) => ["user_id", fn.countAll<number>().as("sessions"), fn.max("last_seen_at").as("lastSeenAt")])
    .where("team_id", "=", teamId)
    .where("ended_at", "is", null)
    .where("expires_at", ">", now)
    .groupBy("user_id")
    .execute();
  return new Map(rows.map(({ user_id, sessions, lastSeenAt }) => [user_id, { sessions, lastSeenAt }]));
}
