// Every field that a request may have, out of the document of the server: the file that acts on it, or its refusal. A new field
// needs a place here, and the file must know it by its name.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "@agentcli/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestServer, testServer } from "./harness/platform.ts";

const platform = "platform/src";

/** Fields of requests about agents, runs and settings, by the file that acts on them. */
const acting: Record<string, string[]> = {
  [`${platform}/agents/submit/insert.ts`]: [
    ...["prompt", "prompt.text", "prompt.images", "mode", "model", "name", "envVars", "runEnvVars", "mcpServers"],
    ...["customSubagents", "metadata", "agentId", "webhook", "repos", "workOnCurrentBranch", "autoCreatePR", "env"],
    ...["skipReviewerRequest", "openAsPlatformGithubApp", "openAsCursorGithubApp", "recordRuns"],
  ],
  [`${platform}/runs/execution/compose/plan.ts`]: ["envVars.*", "runEnvVars.*"],
  [`${platform}/agents/views/views.ts`]: ["metadata.*"],
  [`${platform}/agents/submit/policy.ts`]: [
    ...["env.type", "env.name", "model.id", "customSubagents[].model", "customSubagents[].model.id", "defaultModel.id"],
    ...["model.params", "customSubagents[].model.params", "defaultModel.params"],
    ...["model.params[].id", "customSubagents[].model.params[].id", "defaultModel.params[].id"],
    ...["model.params[].value", "customSubagents[].model.params[].value", "defaultModel.params[].value"],
  ],
  [`${platform}/repositories/workspaces/starting-point.ts`]: ["repos[].startingRef", "repos[].prUrl"],
  [`${platform}/repositories/workspaces/open.ts`]: ["repos[].url"],
  "host/src/sub-agents.ts": ["customSubagents[].name", "customSubagents[].description", "customSubagents[].prompt"],
  "engine/src/prompt/prompt.ts": ["prompt.images[].data", "prompt.images[].mimeType", "prompt.images[].url"],
  // A hint for clients that show the image, kept with the prompt.
  "protocol/src/api/prompts.ts": [
    ...["prompt.images[].dimension", "prompt.images[].dimension.width", "prompt.images[].dimension.height"],
  ],
  [`${platform}/runs/execution/compose/assembly.ts`]: ["mcpServers[].name"],
  "protocol/src/api/servers.ts": ["mcpServers[].type"],
  "mcp/src/transport/http.ts": ["mcpServers[].url", "mcpServers[].headers", "mcpServers[].headers.*"],
  "mcp/src/transport/stdio.ts": ["mcpServers[].command", "mcpServers[].args"],
  [`${platform}/runs/execution/secrets.ts`]: ["mcpServers[].env", "mcpServers[].env.*"],
  [`${platform}/integrations/webhooks/store.ts`]: ["webhook.url", "webhook.secret"],
  [`${platform}/integrations/push/store.ts`]: ["endpoint", "keys"],
  [`${platform}/integrations/push/encrypt.ts`]: ["keys.p256dh", "keys.auth"],
  [`${platform}/inbox/marks.ts`]: ["items", "state"],
  [`${platform}/identity/invitations/invitations.ts`]: ["role"],
  [`${platform}/identity/settings/settings.ts`]: [
    ...["followUps", "defaultModel", "allowedModels", "egress", "autofix", "newAgent"],
    ...["retention", "spendLimit"],
  ],
  [`${platform}/identity/principals/teams.ts`]: ["spendLimit.monthlyUsd"],
  // The web app acts on what is kept here.
  [`${platform}/agents/routes/settings.ts`]: ["newAgent.repository", "newAgent.branch"],
  "protocol/src/api/settings.ts": ["newAgent.environment"],
  [`${platform}/egress/policy.ts`]: ["egress.mode", "egress.allowlist", "egress.locked"],
  [`${platform}/repositories/credentials/value.ts`]: ["host", "kind", "user", "value"],
  [`${platform}/secrets/store.ts`]: ["type"],
  [`${platform}/secrets/binding.ts`]: ["hosts", "uses"],
  [`${platform}/environments/choose.ts`]: ["env.buildId"],
  [`${platform}/agents/submit/fork.ts`]: ["runId"],
  [`${platform}/previews/open.ts`]: ["text"],
  [`${platform}/automations/subscriptions/store.ts`]: [
    ...["days", "filter", "filter.source", "filter.cron", "filter.delaySeconds", "filter.timezone"],
  ],
  [`${platform}/automations/inbound/subscribers.ts`]: ["filter.events", "filter.pullRequest", "filter.repoUrl"],
  [`${platform}/automations/subscriptions/timers.ts`]: ["filter.note"],
};

/** In the documents of others, which clients send whatever we do. */
const withoutEffect = {
  agentServeAgent: "The wire says that servers ignore it: a name that the public SDK uses among its own programs.",
};

const refused = ["mcpServers[].auth", "CLIENT_ID", "CLIENT_SECRET", "scopes"].map((name) =>
  name.startsWith("mcp") ? name : `mcpServers[].auth.${name}`,
);

const actingV0: Record<string, string[]> = {
  [`${platform}/agents/v0/request.ts`]: [
    ...[
      "prompt",
      "prompt.text",
      "prompt.images",
      "prompt.images[].data",
      "prompt.images[].dimension",
      "model",
      "source",
    ],
    ...["source.repository", "source.ref", "source.prUrl", "target", "target.autoCreatePr", "target.branchName"],
    ...["target.openAsCursorGithubApp", "target.openAsPlatformGithubApp", "target.skipReviewerRequest"],
    ...["target.autoBranch", "webhook"],
  ],
  "protocol/src/api/prompts.ts": ["prompt.images[].dimension.width", "prompt.images[].dimension.height"],
  [`${platform}/integrations/webhooks/store.ts`]: ["webhook.url", "webhook.secret"],
  [`${platform}/fleet/pools.ts`]: [
    ...["scope", "poolName", "repoOwner", "repoName", "repoUrl", "workerReadyTimeoutSeconds"],
  ],
  [`${platform}/fleet/claims.ts`]: ["id", "workerId", "sessionToken", "message"],
};

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

interface Document {
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>;
  components: { schemas: Record<string, Schema> };
}

let server: TestServer;
let document: Document;
beforeAll(async () => {
  server = await testServer({ roles: ["api"] });
  document = (await (await fetch(`${server.url}/openapi.json`)).json()) as Document;
});
afterAll(() => server.close());

function fieldsOf(schema: Schema, path: string): string[] {
  const found = schema.$ref ? (document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {}) : schema;
  const { properties = {}, items, additionalProperties, anyOf = [], oneOf = [] } = found;
  const below = (name: string) => (path === "" ? name : `${path}.${name}`);
  return [
    ...Object.entries(properties).flatMap(([name, inner]) => [below(name), ...fieldsOf(inner, below(name))]),
    ...(items ? fieldsOf(items, `${path}[]`) : []),
    ...(typeof additionalProperties === "object" ? [below("*"), ...fieldsOf(additionalProperties, below("*"))] : []),
    ...[...anyOf, ...oneOf].flatMap((choice) => fieldsOf(choice, path)),
  ];
}

const bodiesBelow = (prefix: RegExp): string[] => {
  const operations = Object.entries(document.paths).filter(([path]) => prefix.test(path));
  const schemas = operations.flatMap(([, methods]) =>
    Object.values(methods).flatMap((method) => method.requestBody?.content["application/json"]?.schema ?? []),
  );
  return [...new Set(schemas.flatMap((schema) => fieldsOf(schema, "")))].sort();
};

const sorted = (fields: string[]): string[] => [...new Set(fields)].sort();

test("each field of a request about agents, runs and settings acts somewhere or is refused", () => {
  const known = [...Object.values(acting).flat(), ...Object.keys(withoutEffect), ...refused];
  expect(bodiesBelow(/^\/v1\/(?:agents|me|team)/)).toEqual(sorted(known));
});

test("each field of a request of v0 acts somewhere", () => {
  expect(bodiesBelow(/^\/v0\//)).toEqual(sorted(Object.values(actingV0).flat()));
});

test.each([...Object.entries(acting), ...Object.entries(actingV0)])(
  "%s knows the fields it acts on",
  (file, fields) => {
    const text = readFileSync(join(projectRoot, "packages", file), "utf8");
    const names = fields.map((field) => field.replace(/\.\*$/, "").split(".").at(-1)?.replace("[]", "") ?? "");
    // Variables and tags have names of their users.
    const known = names.filter((name) => new RegExp(`\\b${name === "runEnvVars" ? "envVars" : name}\\b`).test(text));
    expect(known).toEqual(names);
  },
);

test("the login of an MCP server is refused in new agents and in follow-ups", async () => {
  const key = await server.key();
  const mcpServers = [{ name: "x", url: "https://mcp.example.com", auth: { CLIENT_ID: "a", CLIENT_SECRET: "b" } }];
  const body = { prompt: { text: "do it" }, mcpServers };
  for (const path of ["/v1/agents", "/v1/agents/bc-00000000-0000-4000-8000-000000000000/runs"])
    expect(await server.call(key, "POST", path, body)).toMatchObject({
      status: 400,
      body: { error: { code: "validation_error", message: expect.stringContaining("mcpServers.0.auth: ") } },
    });
});
