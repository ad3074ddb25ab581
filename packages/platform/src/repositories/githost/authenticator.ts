// Authenticates access to a repository: a key of its team is required. For other teams the repository does not exist.
import type { Context } from "hono";
import { type Admission, ApiError, type Env } from "../../foundation/index.ts";
import type { Principal, Principals, Scope } from "../../identity/index.ts";
import type { GitHost } from "./host.ts";
import type { HostedRepository } from "./hosted-repository.ts";

export interface AccessRequest {
  name: string;
  scope: Scope;
}

/** Admits the request, as one that runs git. Throws ApiError. */
export type RepositoryAuthenticator = (
  context: Context<Env>,
  request: AccessRequest,
) => Promise<{ repository: HostedRepository; principal: Principal }>;

export interface AuthenticatorOptions {
  host: GitHost;
  principals: Principals;
  admission: Pick<Admission, "admit" | "admitGitProcess">;
}

export const openAuthenticator =
  ({ host, principals, admission }: AuthenticatorOptions): RepositoryAuthenticator =>
  async (context, { name, scope }) => {
    const result = await principals.authenticate(context.req.header("authorization"));
    if (result.kind === "refused") throw new ApiError("unauthorized", result.reason);
    const { principal } = result;
    admission.admit(context, principal);
    admission.admitGitProcess(context, principal.teamId);
    const repository = await host.repositories.find(principal.teamId, name);
    if (repository === undefined) throw new ApiError("repository_not_found", `There is no repository "${name}".`);
    if (!principal.scopes.includes(scope) && !principal.scopes.includes("admin"))
      throw new ApiError("forbidden", `The key "${principal.keyName}" lacks the scope ${scope}.`);
    return { repository, principal };
  };
