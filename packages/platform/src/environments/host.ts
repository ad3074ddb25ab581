// What the routes about environments need.
import type { AgentRepository, Authenticate, PlatformContext } from "../foundation/index.ts";
import type { Principal } from "../identity/index.ts";
import type { EnvironmentAccess } from "./access.ts";

export interface EnvironmentHost {
  platform: PlatformContext;
  access: EnvironmentAccess;
  authenticate: Authenticate;
  /** Throws ApiError for a repository that the team, or this user, may not use. */
  checkRepositories(principal: Principal, repositories: AgentRepository[]): Promise<void>;
}
