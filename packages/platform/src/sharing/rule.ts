// Who may do what with an agent of their team. Pure: one table, for the API and the pages alike.
import type { FollowUps } from "../db/index.ts";
import type { Principal } from "../principals/index.ts";

/** Managing is to cancel, archive, unarchive and delete, and to have a webhook told again. */
export type Deed = "read" | "follow_up" | "manage";

export type Owner = "user" | "service_account";

/** Of an agent of the same team. */
export type Relation = "owner" | "admin" | "teammate";

export interface OwnedAgent {
  user_id: number | null;
  service_account_id: string | null;
}

/** A key of an administrator that is not good for `admin` is that of any teammate. */
export function relationOf(principal: Principal, agent: OwnedAgent): Relation {
  if (principal.kind === "service_account")
    return principal.serviceAccountId === agent.service_account_id ? "owner" : "teammate";
  if (principal.userId === agent.user_id) return "owner";
  return principal.role === "admin" && principal.scopes.includes("admin") ? "admin" : "teammate";
}

export type Permission =
  | { kind: "allowed" }
  /** Where all repositories of the agent may be read. */
  | { kind: "with repository access" }
  | { kind: "refused" };

/** What follows from the relation alone; `takesFollowUps` says whether the agent takes them from its team. */
export function permissionOf(relation: Relation, deed: Deed, takesFollowUps: boolean): Permission {
  if (relation === "owner") return { kind: "allowed" };
  if (deed === "follow_up" && !takesFollowUps) return { kind: "refused" };
  if (relation === "admin") return { kind: "allowed" };
  return deed === "manage" ? { kind: "refused" } : { kind: "with repository access" };
}

export function takesFollowUps(setting: FollowUps, owner: Owner): boolean {
  switch (setting) {
    case "disabled":
      return false;
    case "service_accounts":
      return owner === "service_account";
    case "all":
      return true;
  }
}

export const ownerKind = ({ service_account_id }: OwnedAgent): Owner =>
  service_account_id === null ? "user" : "service_account";
