// Who sees an automation, and who changes it. A private one is for its user alone; the others are seen by the team.
// One that a user owns is changed by that user; one of the team by administrators and service accounts.
import { ApiError, type PlatformContext, type Principal } from "../foundation/index.ts";
import { type AutomationRow, findAutomation, notFound } from "./store.ts";

export interface AutomationAccess {
  /**
   * `promote`: to an automation of the team, which its owner may with the rights of an administrator, and other administrators
   * if they see it. Throws ApiError: `automation_not_found` for what the principal may not see, else why not.
   */
  find(principal: Principal, id: string, action: AutomationAction): Promise<AutomationRow>;
}

export type AutomationAction = "read" | "manage" | "promote";

export function openAutomationAccess({ db }: Pick<PlatformContext, "db">): AutomationAccess {
  return {
    async find(principal, id, action) {
      const automation = await findAutomation(db, principal.teamId, id);
      requireAccess(principal, automation, action);
      return automation;
    },
  };
}

/** Throws like `find`. A change asks again for the row that it has locked: it may be another's by then. */
export function requireAccess(principal: Principal, automation: AutomationRow, action: AutomationAction): void {
  const isOwner = principal.kind === "user" && principal.userId === automation.user_id;
  if (automation.scope === "private" && !isOwner) throw notFound(automation.id);
  if (action === "read" || (isOwner && action === "manage")) return;
  if (automation.scope === "team_visible" && action === "manage")
    throw new ApiError("forbidden", "Only the owner can change an automation of the scope team_visible.");
  requireTeamManager(principal, "Automations of the scope team_owned");
}

export const isTeamManager = (principal: Principal): boolean =>
  principal.kind === "service_account" || (principal.role === "admin" && principal.scopes.includes("admin"));

/** An administrator's key without the scope `admin` counts as a member's. */
export function requireTeamManager(principal: Principal, what: string): void {
  if (isTeamManager(principal)) return;
  throw new ApiError(
    "team_admin_required",
    `${what} are changed by administrators (with a key that has the scope admin) and service accounts.`,
  );
}
