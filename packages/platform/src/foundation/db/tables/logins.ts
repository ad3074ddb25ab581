// Tables of how users come in. Of secrets they hold hashes only.
import type { Perhaps, Stamped, Timestamp } from "./columns.ts";

/** A browser that is logged in. */
export interface SessionTable {
  id: string;
  user_id: number;
  /** SHA-256 of the secret in the cookie. */
  hash: Buffer;
  /** What the user came in by. */
  method: "link" | "oidc" | "invitation";
  created_at: Stamped;
  last_seen_at: Stamped;
  expires_at: Timestamp;
  ended_at: Perhaps<Date>;
}

export interface LoginLinkTable {
  id: string;
  user_id: number;
  hash: Buffer;
  expires_at: Timestamp;
  used_at: Perhaps<Date>;
}

export interface InvitationTable {
  id: string;
  team_id: number;
  email: string;
  role: "admin" | "member";
  hash: Buffer;
  expires_at: Timestamp;
  accepted_at: Perhaps<Date>;
  revoked_at: Perhaps<Date>;
  created_at: Stamped;
}

/** Who a user is to an OpenID provider: there the subject stays, whatever the address of the user becomes. */
export interface IdentityTable {
  issuer: string;
  subject: string;
  user_id: number;
  created_at: Stamped;
}

/** A login attempt whose callback has arrived. Kept until the attempt would have expired. */
export interface UsedLoginAttemptTable {
  /** SHA-256 of the state. */
  hash: Buffer;
  expires_at: Timestamp;
}
