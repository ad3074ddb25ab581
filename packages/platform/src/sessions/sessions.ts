// Sessions of browsers as rows: what is ended there is over everywhere, with the next request.
import { type Kysely, sql } from "kysely";
import type { SessionTable, Tables } from "../db/index.ts";
import { type Principal, scopesOf } from "../principals/index.ts";
import { formTokenOf, hashSecret, isSecret, makeSecret } from "./secret.ts";

export interface Sessions {
  /** The secret is in the answer and nowhere else. */
  begin(userId: number, method: SessionMethod): Promise<string>;
  /** Null where it is over, or its user was removed. Whoever is seen stays for a while longer. */
  find(secret: string): Promise<Session | null>;
  end(secret: string): Promise<void>;
  /** Those that are not over, the latest first. */
  list(userId: number): Promise<SessionEntry[]>;
  /** Of those users of a team who are logged in. */
  presence(teamId: number): Promise<Map<number, Presence>>;
  /** One of the user's, or all of them; answers how many that were. */
  endOf(userId: number, which: { id: string } | "all"): Promise<number>;
}

export type SessionMethod = SessionTable["method"];

export interface Session {
  id: string;
  principal: Principal & { kind: "user" };
  /** Every form carries it: another site can send a browser's cookie here, and not know this. */
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

const unseenMs = 12 * 3_600_000;
const longestMs = 7 * 24 * 3_600_000;
/** One write a minute is enough to know who is there. */
const noticeMs = 60_000;
/** How long it is remembered that there was one. */
const keptMs = 30 * 24 * 3_600_000;

export function openSessions(db: Kysely<Tables>, now: () => Date): Sessions {
  const later = (ms: number) => new Date(now().getTime() + ms);
  return {
    async begin(userId, method) {
      const { id, secret, hash } = makeSecret();
      const forgotten = db
        .deleteFrom("sessions")
        .where("user_id", "=", userId)
        .where("expires_at", "<", later(-keptMs));
      await forgotten.execute();
      const at = now();
      const times = { created_at: at, last_seen_at: at, expires_at: later(unseenMs) };
      await db
        .insertInto("sessions")
        .values({ id, user_id: userId, hash, method, ...times })
        .execute();
      return secret;
    },
    async find(secret) {
      if (!isSecret(secret)) return null;
      const row = await findRow(db, secret, now());
      if (!row) return null;
      if (row.last_seen_at <= later(-noticeMs)) await notice(db, row.id, now());
      return { id: row.id, principal: principalOf(row), formToken: formTokenOf(secret) };
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
      const wanted = which === "all" ? all : all.where("id", "=", which.id);
      const alive = wanted.where("ended_at", "is", null).where("expires_at", ">", now());
      return Number((await alive.executeTakeFirst()).numUpdatedRows);
    },
  };
}

const open = (db: Kysely<Tables>, now: Date) =>
  db.selectFrom("sessions").selectAll("sessions").where("ended_at", "is", null).where("expires_at", ">", now);

const findRow = (db: Kysely<Tables>, secret: string, now: Date) =>
  open(db, now)
    .innerJoin("users", "users.id", "sessions.user_id")
    .select(["team_id", "email", "first_name", "last_name", "role"])
    .where("hash", "=", hashSecret(secret))
    .where("users.removed_at", "is", null)
    .executeTakeFirst();

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

async function notice(db: Kysely<Tables>, id: string, now: Date): Promise<void> {
  const expiry = new Date(now.getTime() + unseenMs);
  await db
    .updateTable("sessions")
    .set({
      last_seen_at: now,
      expires_at: sql<Date>`least(${expiry}::timestamptz, created_at + ${longestMs} * interval '1 millisecond')`,
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
