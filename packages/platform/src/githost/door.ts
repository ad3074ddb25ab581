// Who comes in to a repository: a key of its team. To everybody else there is no such repository.
import type { Context } from "hono";
import { ApiProblem, type Env } from "../http/index.ts";
import type { Principal, Principals, Scope } from "../principals/index.ts";
import type { GitHost } from "./host.ts";
import type { HostedRepository } from "./repositories.ts";

export interface Wanted {
  name: string;
  scope: Scope;
}

export interface Door {
  /** Answers as git expects it: a question for credentials where there are none, plain text otherwise. */
  forGit(context: Context<Env>, wanted: Wanted): Promise<HostedRepository | Response>;
  /** Throws ApiProblem. */
  forPeople(context: Context<Env>, wanted: Wanted): Promise<{ repository: HostedRepository; principal: Principal }>;
}

export function openDoor(host: GitHost, principals: Principals): Door {
  async function enter(context: Context<Env>, { name, scope }: Wanted) {
    const known = await principals.authenticate(context.req.header("authorization"));
    if (known.kind === "refused") throw new ApiProblem("unauthorized", known.reason);
    const { principal } = known;
    context.set("principal", principal);
    const repository = await host.repositories.find(principal.teamId, name);
    if (repository === undefined) throw new ApiProblem("repository_not_found", `There is no repository "${name}".`);
    if (!principal.scopes.includes(scope) && !principal.scopes.includes("admin"))
      throw new ApiProblem("forbidden", `The key "${principal.keyName}" is not good for ${scope}.`);
    return { repository, principal };
  }
  return {
    async forGit(context, wanted) {
      try {
        return (await enter(context, wanted)).repository;
      } catch (error) {
        if (!(error instanceof ApiProblem)) throw error;
        const challenge = { "www-authenticate": 'Basic realm="platform", charset="UTF-8"' };
        return context.text(`${error.message}\n`, error.status, error.status === 401 ? challenge : {});
      }
    },
    forPeople: enter,
  };
}
