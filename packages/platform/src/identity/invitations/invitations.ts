// Invitations to a team: an address, a role, and a link that creates the user, once.
import type { Kysely, UpdateQueryBuilder, UpdateResult } from "kysely";
import type { Queries, Tables } from "../../foundation/index.ts";
import { admitUser, findMember, isAddress, PrincipalError, type Role } from "../principals/index.ts";
import { hashSecret, isSecret, makeSecret } from "../sessions/index.ts";

export interface Invitations {
  /** The secret is only in the result. Replaces a pending invitation of the same address. */
  invite(request: InvitationRequest): Promise<Invited>;
  /** Pending ones. */
  list(teamId: number | null): Promise<InvitationEntry[]>;
  /** False if no such invitation is pending. */
  revoke(teamId: number | null, id: string): Promise<boolean>;
  /** Null if it was used, revoked, has expired or never existed. */
  find(secret: string): Promise<InvitationEntry | null>;
  /** The user it creates; null if it is no longer pending. Of two concurrent calls one succeeds. */
  accept(which: AcceptedInvitation): Promise<number | null>;
}

/** By its link, or by a verified address. */
export type AcceptedInvitation = { secret: string; proof: "address" | "link" } | { teamId: number; email: string };

export interface InvitationRequest {
  teamId: number;
  email: string;
  role: Role;
}

export interface Invited {
  id: string;
  secret: string;
  expiresAt: Date;
}

export interface InvitationEntry {
  id: string;
  email: string;
  role: Role;
  team: string;
  createdAt: Date;
  expiresAt: Date;
}

const lifetimeMs = 7 * 24 * 3_600_000;

export function openInvitations(db: Kysely<Tables>, now: () => Date): Invitations {
  return {
    invite: (request) => db.transaction().execute((transaction) => invite(transaction, request, now())),
    async list(teamId) {
      const all = pendingInvitations(db, now());
      return entries(await (teamId === null ? all : all.where("team_id", "=", teamId)).execute());
    },
    async revoke(teamId, id) {
      const one = db.updateTable("invitations").set({ revoked_at: now() }).where("id", "=", id);
      const own = teamId === null ? one : one.where("team_id", "=", teamId);
      return (await onlyPending(own, now()).executeTakeFirst()).numUpdatedRows > 0n;
    },
    async find(secret) {
      if (!isSecret(secret)) return null;
      const [found] = entries(await pendingInvitations(db, now()).where("hash", "=", hashSecret(secret)).execute());
      return found ?? null;
    },
    accept: (which) => db.transaction().execute((transaction) => acceptInvitation(transaction, which, now())),
  };
}

async function invite(db: Queries, { teamId, email, role }: InvitationRequest, now: Date): Promise<Invited> {
  const existing = await findMember(db, teamId, email);
  // An address of another team is invited like any other: the inviting administrator must not learn of it.
  if (existing?.removed_at === null) throw new PrincipalError(`${email} is already in the team.`);
  const former = db.updateTable("invitations").set({ revoked_at: now }).where("team_id", "=", teamId);
  await onlyPending(former.where(isAddress(email)), now).execute();
  const { id, secret, hash } = makeSecret();
  const expiresAt = new Date(now.getTime() + lifetimeMs);
  const row = { id, team_id: teamId, email, role, hash, expires_at: expiresAt, created_at: now };
  await db.insertInto("invitations").values(row).execute();
  return { id, secret, expiresAt };
}

/** For callers with a transaction of their own. */
export async function acceptInvitation(db: Queries, which: AcceptedInvitation, now: Date): Promise<number | null> {
  if ("secret" in which && !isSecret(which.secret)) return null;
  const all = db.updateTable("invitations").set({ accepted_at: now });
  const matching =
    "secret" in which
      ? all.where("hash", "=", hashSecret(which.secret))
      : all.where("team_id", "=", which.teamId).where(isAddress(which.email));
  const accepted = await onlyPending(matching, now).returning(["id", "team_id", "email", "role"]).executeTakeFirst();
  if (!accepted) return null;
  const { id, team_id: teamId, email, role } = accepted;
  const userId = await admitUser(db, { teamId, email, role }, "proof" in which ? which.proof : "address");
  // Still pending where the address is a user's: what became of it would tell whose.
  if (userId === null) await db.updateTable("invitations").set({ accepted_at: null }).where("id", "=", id).execute();
  return userId;
}

type Update = UpdateQueryBuilder<Tables, "invitations", "invitations", UpdateResult>;

const onlyPending = (query: Update, now: Date): Update =>
  query.where("accepted_at", "is", null).where("revoked_at", "is", null).where("expires_at", ">", now);

const pendingInvitations = (db: Queries, now: Date) =>
  db
    .selectFrom("invitations")
    .innerJoin("teams", "teams.id", "invitations.team_id")
    .selectAll("invitations")
    .select("teams.name as team")
    .where("accepted_at", "is", null)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", now)
    .orderBy("invitations.created_at");

type Row = Awaited<ReturnType<ReturnType<typeof pendingInvitations>["execute"]>>[number];

const entries = (rows: Row[]): InvitationEntry[] =>
  rows.map(({ id, email, role, team, created_at, expires_at }) => ({
    ...{ id, email, role, team },
    createdAt: created_at,
    expiresAt: expires_at,
  }));
