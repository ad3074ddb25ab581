// Permissions on agents of a team: one pure table for the API and the pages.
import type { FollowUps } from "../../foundation/index.ts";
import type { Principal } from "../principals/index.ts";

/** `manage`: cancel, archive, unarchive, delete, redeliver a webhook. */
export type AgentAction = "read" | "follow_up" | "manage";

export type Owner = "user" | "service_account";

/** To an agent of the same team. */
export type Relation = "owner" | "admin" | "teammate";

export interface OwnedAgent {
  user_id: number | null;
  service_account_id: string | null;
}

/** An administrator's key without the scope `admin` counts as a teammate's. */
export function relationOf(principal: Principal, agent: OwnedAgent): Relation {
  if (principal.kind === "service_account")
    return principal.serviceAccountId === agent.service_account_id ? "owner" : "teammate";
  if (principal.userId === agent.user_id) return "owner";
  return principal.role === "admin" && principal.scopes.includes("admin") ? "admin" : "teammate";
}

export type Permission =
  | { kind: "allowed" }
  /** Allowed if the principal may read all repositories of the agent. */
  | { kind: "with repository access" }
  | { kind: "refused" };

/** What follows from the relation alone; `acceptsFollowUps`: whether the agent accepts them from its team. */
export function permissionOf(relation: Relation, action: AgentAction, takesFollowUps: boolean): Permission {
  if (relation === "owner") return { kind: "allowed" };
  if (action === "follow_up" && !takesFollowUps) return { kind: "refused" };
  if (relation === "admin") return { kind: "allowed" };
  return action === "manage" ? { kind: "refused" } : { kind: "with repository access" };
}

export function acceptsFollowUps(setting: FollowUps, owner: Owner): boolean {
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
