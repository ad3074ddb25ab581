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

export interface Access {
  repository: HostedRepository;
  principal: Principal;
  /** For once the body has come: until then, its sender may have lost the key or the role. Throws ApiError. */
  confirm(): Promise<void>;
}

/** Admits the request, as one that runs git. Throws ApiError. */
export type RepositoryAuthenticator = (context: Context<Env>, request: AccessRequest) => Promise<Access>;

export interface AuthenticatorOptions {
  host: GitHost;
  principals: Principals;
  admission: Pick<Admission, "admit" | "admitGitProcess">;
}

export const openAuthenticator =
  ({ host, principals, admission }: AuthenticatorOptions): RepositoryAuthenticator =>
  async (context, { name, scope }) => {
    const authenticate = async (): Promise<Principal> => {
      const result = await principals.authenticate(context.req.header("authorization"));
      if (result.kind === "refused") throw new ApiError("unauthorized", result.reason);
      return result.principal;
    };
    const principal = await authenticate();
    admission.admit(context, principal);
    admission.admitGitProcess(context, principal.teamId);
    const repository = await host.repositories.find(principal.teamId, name);
    if (repository === undefined) throw new ApiError("repository_not_found", `There is no repository "${name}".`);
    requireScope(principal, scope);
    return { repository, principal, confirm: async () => requireScope(await authenticate(), scope) };
  };

function requireScope({ scopes, keyName }: Principal, scope: Scope): void {
  if (scopes.includes(scope) || scopes.includes("admin")) return;
  throw new ApiError("forbidden", `The key "${keyName}" lacks the scope ${scope}.`);
}
