// `GET /v1/me`, `GET /v1/models` and `GET /v1/repositories`.
import { Me, ModelList, RepositoryList } from "@agentcli/protocol/api";
import type { Api } from "../http/index.ts";
import type { Platform } from "../platform.ts";
import type { Principal } from "../principals/index.ts";
import { listModels } from "./models.ts";

/** `repositories` are those of a team that the platform knows by itself, as clone URLs. */
export function addCatalogueRoutes(
  api: Api,
  { settings }: Platform,
  repositories: (teamId: number) => Promise<string[]>,
): void {
  api.route(
    {
      method: "get",
      path: "/v1/me",
      summary: "Say whose key this is",
      tag: "account",
      scope: null,
      answer: { status: 200, schema: Me, description: "The key and its owner" },
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
      answer: { status: 200, schema: ModelList, description: "The configured one first" },
    },
    async () => ({ items: listModels(settings.models) }),
  );
  api.route(
    {
      method: "get",
      path: "/v1/repositories",
      summary: "List the repositories agents can work on",
      tag: "account",
      scope: "repositories:read",
      answer: { status: 200, schema: RepositoryList, description: "Those the platform knows by itself" },
    },
    async ({ principal }) => ({ items: (await repositories(principal.teamId)).map((url) => ({ url })) }),
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
