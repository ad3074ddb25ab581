// `GET /v0/me`, `GET /v0/models` and `GET /v0/repositories`.
import { type Api, type PlatformContext, schema } from "../../foundation/index.ts";
import { type Principal, settingsOfTeam } from "../../identity/index.ts";
import { listModels } from "../../inference/index.ts";
import type { OfferedRepositories } from "../../repositories/index.ts";

const shared = { method: "get", tag: "v0" } as const;

export function addCatalogueRoutes(
  api: Api,
  platform: PlatformContext,
  repositories: (principal: Principal) => Promise<OfferedRepositories>,
): void {
  api.route(
    {
      ...shared,
      path: "/v0/me",
      summary: "Show the owner of this key",
      scope: null,
      answer: { status: 200, schema: schema("v0", "V0Me"), description: "The key and its owner" },
    },
    async ({ principal }) => ({
      apiKeyName: principal.keyName,
      createdAt: principal.createdAt.toISOString(),
      ...(principal.kind === "user" && { userEmail: principal.email }),
    }),
  );
  api.route(
    {
      ...shared,
      path: "/v0/models",
      summary: "List the models agents can use",
      scope: null,
      answer: { status: 200, schema: schema("v0", "V0Models"), description: "The configured one first" },
    },
    async ({ principal: { teamId } }) => {
      const { models } = await settingsOfTeam(platform, teamId);
      return { models: listModels(models).map(({ id }) => id) };
    },
  );
  api.route(
    {
      ...shared,
      path: "/v0/repositories",
      summary: "List the repositories agents can work on",
      scope: "repositories:read",
      rateLimit: [
        { requests: 1, seconds: 60 },
        { requests: 30, seconds: 3_600 },
      ],
      answer: { status: 200, schema: schema("v0", "V0Repositories"), description: "As of v1" },
    },
    async ({ principal }) => ({ repositories: (await repositories(principal)).urls.map(describe) }),
  );
}

function describe(url: string): { owner: string; name: string; repository: string } {
  const [name = "", owner = ""] = new URL(url).pathname.split("/").reverse();
  return { owner, name: name.replace(/\.git$/, ""), repository: url };
}
