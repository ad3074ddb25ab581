// Keys as they are requested, created and listed.
import type { Role, Scope } from "../../foundation/index.ts";

export interface KeyRequest {
  name: string;
  /** Created if it does not exist. */
  team: string;
  owner: KeyOwner;
  /** Null: all scopes of the owner. */
  scopes: Scope[] | null;
  expiresAt: Date | null;
}

/** A null e-mail address is the first administrator of the team; the first user of a team becomes one. */
export type KeyOwner = { kind: "user"; email: string | null } | { kind: "service_account"; name: string };

export interface CreatedKey {
  id: string;
  key: string;
  teamId: number;
}

export interface RotatedKey extends CreatedKey {
  /** When the former key expires. */
  formerUntil: Date;
}

export interface KeyEntry {
  id: string;
  name: string;
  team: string;
  owner: { kind: "user"; userId: number; email: string; role: Role } | { kind: "service_account"; name: string };
  scopes: Scope[];
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** With a precision of one minute. */
  lastUsedAt: Date | null;
  /** The key it was rotated into. */
  successorId: string | null;
}
