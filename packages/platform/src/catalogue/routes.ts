// `GET /v1/me` and `GET /v1/models`.
import { Me, ModelList } from "@agentcli/protocol/api";
import type { Api } from "../http/index.ts";
import type { Platform } from "../platform.ts";
import type { Principal } from "../principals/index.ts";
import { listModels } from "./models.ts";

export function addCatalogueRoutes(api: Api, { settings }: Platform): void {
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
