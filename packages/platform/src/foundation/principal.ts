// The caller of a request: a user or a service account of a team, through one of their keys.

/** What a key may be used for. */
export const scopes = [
  "agents:read",
  "agents:write",
  "inference:create",
  "repositories:read",
  "repositories:write",
  "admin",
] as const;
export type Scope = (typeof scopes)[number];

export type Role = "admin" | "member";

/** `admin` is for administrators; all other scopes are for every user. Service accounts have no role. */
export const scopesOf = (role: Role | null): Scope[] => scopes.filter((scope) => scope !== "admin" || role === "admin");

export type Principal = {
  teamId: number;
  keyId: string;
  keyName: string;
  /** When the key was made. */
  createdAt: Date;
  scopes: Scope[];
} & (
  | {
      kind: "user";
      userId: number;
      email: string;
      firstName: string | null;
      lastName: string | null;
      role: Role;
    }
  | { kind: "service_account"; serviceAccountId: string; name: string }
);

/** A user whose decision something may be. */
export interface Decider {
  teamId: number;
  userId: number;
  /** Decides for the team. An administrator's key without the scope `admin` counts as a member's. */
  isTeamManager: boolean;
}

export const deciderOf = ({ teamId, userId, role, scopes }: Extract<Principal, { kind: "user" }>): Decider => ({
  ...{ teamId, userId, isTeamManager: role === "admin" && scopes.includes("admin") },
});

/** As stored beside what a principal did: `user:1`, `service_account:<uuid>`. */
export const principalName = (principal: Principal): string =>
  principal.kind === "user" ? `user:${principal.userId}` : `service_account:${principal.serviceAccountId}`;
