// Checks that a requester may use repositories for an agent: at creation, and again when a run begins.
import { type AgentRepository, ApiError } from "../../foundation/index.ts";
import type { Principal } from "../../identity/index.ts";
import { RepositoryFault } from "../git/index.ts";
import type { SourceHosts } from "../scm/index.ts";
import type { AccessRefusal, UserAccess } from "./access.ts";

export interface RepositoryChecks {
  /** Throws ApiError for a repository that the team, or this user, may not use. */
  checkAtCreation(principal: Principal, repositories: AgentRepository[]): Promise<void>;
  /** Throws RepositoryFault if the user who requested the run no longer has access. */
  checkAtRun(userId: number | null, urls: string[], signal: AbortSignal): Promise<void>;
}

export interface RepositoryCheckOptions {
  sources: SourceHosts;
  userAccess: UserAccess;
  publicUrl(): string;
}

const timeoutMs = 15_000;

export const openRepositoryChecks = ({ sources, userAccess, publicUrl }: RepositoryCheckOptions): RepositoryChecks => ({
  async checkAtCreation(principal, repositories) {
    const signal = AbortSignal.timeout(timeoutMs);
    await sources.check(principal.teamId, repositories, signal);
    const userId = principal.kind === "user" ? principal.userId : null;
    for (const [index, { url }] of repositories.entries()) {
      const refusal = await userAccess.refusal(userId, url, signal);
      if (refusal === undefined) continue;
      const message = `repos[${index}].url: ${refusal.reason}.`;
      throw new ApiError(refusal.code, message, { members: membersOf(refusal, publicUrl()) });
    }
  },
  async checkAtRun(userId, urls, signal) {
    for (const url of urls) {
      const refusal = await userAccess.refusal(userId, url, signal);
      if (refusal !== undefined) throw new RepositoryFault(refusal.code, `${sources.shown(url)}: ${refusal.reason}.`);
    }
  },
});

const membersOf = ({ code }: AccessRefusal, url: string): Record<string, string> =>
  code === "integration_not_connected" ? { helpUrl: `${url}/accounts`, provider: "github" } : {};
