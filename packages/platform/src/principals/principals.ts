// Teams, users, service accounts and their keys.
import type { Principal, Role, Scope } from "./principal.ts";

export interface Principals {
  /** Takes the value of an Authorization header: Basic (the key is the user name) or Bearer. */
  authenticate(authorization: string | undefined): Promise<Authentication>;
  /** The whole key is in the answer and nowhere else. */
  createKey(request: KeyRequest): Promise<CreatedKey>;
  listKeys(teamId?: number): Promise<KeyEntry[]>;
  /** False where there is no such key. Seen by every server within a second. */
  revokeKey(keyId: string): Promise<boolean>;
}

export type Authentication = { kind: "known"; principal: Principal } | { kind: "refused"; reason: string };

export interface KeyRequest {
  name: string;
  /** Made where it does not exist. */
  team: string;
  owner: KeyOwner;
  /** Null: all that the owner may do. */
  scopes: Scope[] | null;
  expiresAt: Date | null;
}

/** A user without an e-mail address is the first administrator of the team. The first user of a team is one. */
export type KeyOwner = { kind: "user"; email: string | null } | { kind: "service_account"; name: string };

export interface CreatedKey {
  id: string;
  key: string;
  teamId: number;
}

export interface KeyEntry {
  id: string;
  name: string;
  team: string;
  owner: { kind: "user"; email: string; role: Role } | { kind: "service_account"; name: string };
  scopes: Scope[];
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
}
