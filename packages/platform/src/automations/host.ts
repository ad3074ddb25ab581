// What the parts of automations need of the server.
import type { AgentAccess, Submit } from "../agents/index.ts";
import type { FindNamedEnvironment } from "../environments/index.ts";
import type { EnvCheck } from "../fleet/index.ts";
import type { Principal, ServerContext } from "../foundation/index.ts";
import type { Repositories } from "../repositories/index.ts";
import type { AutomationAccess } from "./access.ts";

export interface AutomationHost {
  platform: ServerContext;
  access: AutomationAccess;
  submit: Submit;
  agents: AgentAccess;
  /** Throws ApiError for a repository that the principal may not use. */
  checkRepositories(principal: Principal, repositories: { url: string }[]): Promise<void>;
  /** Throws ApiError for a pool or machine that there is not. */
  checkEnv: EnvCheck;
  /** Throws ApiError for an environment that the principal may not use. */
  findEnvironment: FindNamedEnvironment;
  /** The same text for all addresses of a repository of the embedded git host; others stay as they are. */
  shownRepository(url: string): string;
  /** Whether the embedded git host has it. */
  isHosted(url: string): boolean;
  sources: Pick<Repositories["sources"], "open">;
  hookDeliveries: Repositories["hookDeliveries"];
  /** The address of a pull request of a repository. */
  pullRequestUrl(repositoryUrl: string, number: number): string;
  now(): Date;
}
