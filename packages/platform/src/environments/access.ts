// Who sees an environment, and who changes it. Personal ones are for their user alone. Those of the team are for administrators,
// service accounts, and members who may read all its repositories; changing them is for administrators and service accounts.
import { ApiError, type PlatformContext, type Principal } from "../foundation/index.ts";
import type { RepositoryReading } from "../identity/index.ts";
import { type EnvironmentRow, findEnvironment, notFound } from "./store.ts";

export interface EnvironmentAccess {
  /** Throws ApiError: `environment_not_found` for what the principal may not see, else why not. */
  find(principal: Principal, id: string, action: "read" | "manage"): Promise<EnvironmentRow>;
  /** Without the environments that the principal may not see. */
  visible(principal: Principal, environments: EnvironmentRow[]): Promise<EnvironmentRow[]>;
}

export function openEnvironmentAccess({ db }: PlatformContext, reading: RepositoryReading): EnvironmentAccess {
  const mayRead = async (principal: Principal, environment: EnvironmentRow): Promise<boolean> => {
    if (environment.user_id !== null) return isOwner(principal, environment);
    if (mayManageTeam(principal)) return true;
    if (principal.kind !== "user") return false;
    for (const { url } of environment.repos) {
      if (!reading.needsAccount(url)) continue;
      if ((await reading.judge(principal.userId, url)).kind !== "granted") return false;
    }
    return true;
  };
  return {
    async find(principal, id, action) {
      const environment = await findEnvironment(db, principal.teamId, id);
      if (!(await mayRead(principal, environment))) throw notFound(id);
      if (action === "manage" && environment.user_id === null) requireTeamManager(principal);
      return environment;
    },
    async visible(principal, environments) {
      const readable = await Promise.all(environments.map((environment) => mayRead(principal, environment)));
      return environments.filter((_, index) => readable[index]);
    },
  };
}

const isOwner = (principal: Principal, { user_id }: EnvironmentRow): boolean =>
  principal.kind === "user" && principal.userId === user_id;

/** An administrator's key without the scope `admin` counts as a member's. */
const mayManageTeam = (principal: Principal): boolean =>
  principal.kind === "service_account" || (principal.role === "admin" && principal.scopes.includes("admin"));

export function requireTeamManager(principal: Principal): void {
  if (mayManageTeam(principal)) return;
  throw new ApiError(
    "team_admin_required",
    "Only administrators of the team (with a key that has the scope admin) and service accounts can change its environments. Create a personal one instead.",
  );
}
