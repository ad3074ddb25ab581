// Authenticates access to a repository: a key of its team is required. For other teams the repository does not exist.
import type { Context } from "hono";
import { ApiError, type Env } from "../../foundation/index.ts";
import type { Principal, Principals, Scope } from "../../identity/index.ts";
import type { GitHost } from "./host.ts";
import type { HostedRepository } from "./repositories.ts";

export interface AccessRequest {
  name: string;
  scope: Scope;
}

export interface RepositoryAuthenticator {
  /** Responds to failures as git expects: a credential challenge on 401, plain text otherwise. */
  forGit(context: Context<Env>, request: AccessRequest): Promise<HostedRepository | Response>;
  /** Throws ApiError. */
  forPeople(
    context: Context<Env>,
    request: AccessRequest,
  ): Promise<{ repository: HostedRepository; principal: Principal }>;
}

export function openAuthenticator(host: GitHost, principals: Principals): RepositoryAuthenticator {
  async function authorize(context: Context<Env>, { name, scope }: AccessRequest) {
    const result = await principals.authenticate(context.req.header("authorization"));
    if (result.kind === "refused") throw new ApiError("unauthorized", result.reason);
    const { principal } = result;
    context.set("principal", principal);
    const repository = await host.repositories.find(principal.teamId, name);
    if (repository === undefined) throw new ApiError("repository_not_found", `There is no repository "${name}".`);
    if (!principal.scopes.includes(scope) && !principal.scopes.includes("admin"))
      throw new ApiError("forbidden", `The key "${principal.keyName}" lacks the scope ${scope}.`);
    return { repository, principal };
  }
  return {
    async forGit(context, request) {
      try {
        return (await authorize(context, request)).repository;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const challenge = { "www-authenticate": 'Basic realm="platform", charset="UTF-8"' };
        return context.text(`${error.message}\n`, error.status, error.status === 401 ? challenge : {});
      }
    },
    forPeople: authorize,
  };
}
