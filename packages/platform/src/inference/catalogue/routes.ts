// `GET /v1/me`, `GET /v1/models` and `GET /v1/repositories`.
import type { Me } from "@agentcli/protocol/api";
import { type Api, type PlatformContext, schema } from "../../foundation/index.ts";
import { type Principal, settingsOfTeam } from "../../identity/index.ts";
import type { OfferedRepositories } from "../../repositories/index.ts";
import { listModels } from "./models.ts";

/** `repositories`: those that the principal can start agents on. */
export function addCatalogueRoutes(
  api: Api,
  platform: PlatformContext,
  repositories: (principal: Principal) => Promise<OfferedRepositories>,
): void {
  api.route(
    {
      method: "get",
      path: "/v1/me",
      summary: "Show the owner of this key",
      tag: "account",
      scope: null,
      answer: { status: 200, schema: schema("catalogue", "Me"), description: "The key and its owner" },
    },
    async ({ principal }) => describe(principal),
  );
  api.route(
    {
      method: "get",
      path: "/v1/models",
      summary: "List the models agents can use",
      tag: "account",
      scope: null,
      answer: { status: 200, schema: schema("catalogue", "ModelList"), description: "The configured one first" },
    },
    async ({ principal }) => ({ items: listModels((await settingsOfTeam(platform, principal.teamId)).models) }),
  );
  api.route(
    {
      method: "get",
      path: "/v1/repositories",
      summary: "List the repositories agents can work on",
      tag: "account",
      scope: "repositories:read",
      rateLimit: [
        { requests: 1, seconds: 60 },
        { requests: 30, seconds: 3_600 },
      ],
      answer: {
        status: 200,
        schema: schema("catalogue", "RepositoryList"),
        description: "Repositories of the embedded git host, then those of connected hosts",
      },
    },
    async ({ principal }) => {
      const { urls, unavailable } = await repositories(principal);
      return { items: urls.map((url) => ({ url })), ...(unavailable.length > 0 && { unavailable }) };
    },
  );
}

function describe(principal: Principal): Me {
  const key = { apiKeyName: principal.keyName, createdAt: principal.createdAt.toISOString() };
  if (principal.kind === "service_account") return key;
  const { userId, email, firstName, lastName } = principal;
  return {
    ...key,
    userId,
    userEmail: email,
    ...(firstName === null ? {} : { userFirstName: firstName }),
    ...(lastName === null ? {} : { userLastName: lastName }),
  };
}
