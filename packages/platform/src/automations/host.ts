// What the parts of automations need of the server.
import type { Submit } from "../agents/index.ts";
import type { Principal, ServerContext } from "../foundation/index.ts";
import type { AutomationAccess } from "./access.ts";

export interface AutomationHost {
  platform: ServerContext;
  access: AutomationAccess;
  submit: Pick<Submit, "createAgent">;
  /** Throws ApiError for a repository that the principal may not use. */
  checkRepositories(principal: Principal, repositories: { url: string }[]): Promise<void>;
  now(): Date;
}
