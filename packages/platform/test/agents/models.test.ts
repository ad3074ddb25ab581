// Models and their parameters in requests: what the catalogue lists is accepted, anything else is refused by name.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestServer, testServer } from "../harness/platform.ts";

let server: TestServer;
let key: string;

beforeAll(async () => {
  server = await testServer({ roles: ["api"], models: { model: "gpt-5", models: ["gpt-4.1", "unpriced-one"] } });
  key = await server.key();
});
afterAll(() => server.close());

const create = (body: object) => server.call(key, "POST", "/v1/agents", { prompt: { text: "do it" }, ...body });
const effort = (value: string) => ({ id: "reasoning_effort", value });
const subagent = (model: unknown) => ({
  customSubagents: [
    { name: "writer", description: "writes", prompt: "write" },
    { name: "reviewer", description: "reviews", prompt: "review", model },
  ],
});

test("the catalogue lists the parameters of each model, and those are accepted", async () => {
  const { body } = await server.call(key, "GET", "/v1/models");
  const items = (body as { items: { id: string; parameters?: { id: string; values: { value: string }[] }[] }[] }).items;
  expect(items.map(({ id, parameters = [] }) => [id, parameters.map((one) => one.id)])).toEqual([
    ["gpt-5", ["reasoning_effort"]],
    ["gpt-4.1", []],
    ["unpriced-one", ["reasoning_effort"]],
    ["practice", []],
  ]);
  for (const { value } of items[0]?.parameters?.[0]?.values ?? [])
    expect(await create({ model: { id: "gpt-5", params: [effort(value)] } })).toMatchObject({ status: 200 });
  expect(await create(subagent({ id: "inherit", params: [effort("low")] }))).toMatchObject({ status: 200 });
});

test.each([
  [
    "an unknown parameter",
    { model: { id: "gpt-5", params: [effort("low"), { id: "temperature", value: "1" }] } },
    /model\.params\.1\.id: the model gpt-5 has no parameter temperature; it has: reasoning_effort\./,
  ],
  [
    "a parameter of another model",
    { model: { id: "gpt-4.1", params: [effort("low")] } },
    /model\.params\.0\.id: the model gpt-4\.1 has no parameter reasoning_effort; it has: none\./,
  ],
  [
    "an unknown value",
    { model: { id: "gpt-5", params: [effort("very high")] } },
    /model\.params\.0\.value: reasoning_effort of gpt-5 is one of none, minimal, low, medium, high, xhigh\./,
  ],
  [
    "a parameter twice",
    { model: { id: "gpt-5", params: [effort("low"), effort("high")] } },
    /model\.params\.1\.id: reasoning_effort is given twice\./,
  ],
  [
    "a parameter of the model that a sub-agent inherits",
    { model: { id: "practice" }, ...subagent({ id: "inherit", params: [effort("low")] }) },
    /customSubagents\.1\.model\.params\.0\.id: sub-agent reviewer: the model practice has no parameter/,
  ],
  [
    "the login of an MCP server",
    { mcpServers: [{ name: "x", url: "https://mcp.example.com", auth: { CLIENT_ID: "me" } }] },
    /mcpServers\.0\.auth: cloud agents cannot log in to MCP servers.*headers/,
  ],
])("%s is refused by name", async (_case, body, message) => {
  expect(await create(body)).toMatchObject({
    status: 400,
    body: { error: { code: "validation_error", message: expect.stringMatching(message) } },
  });
});

test.each([
  ["as a name", "gone", "customSubagents.1.model: sub-agent reviewer: unknown model gone."],
  ["as a selection", { id: "gone" }, "customSubagents.1.model.id: sub-agent reviewer: unknown model gone."],
])("a wrong model of a sub-agent, given %s, names the sub-agent", async (_form, model, message) => {
  expect(await create(subagent(model))).toMatchObject({
    status: 400,
    body: { error: { code: "invalid_model", message: expect.stringContaining(message) } },
  });
});

test("under a spend limit, a sub-agent's model without a price names the sub-agent", async () => {
  const team = await server.key({ team: "limited" });
  await server.platform.db.updateTable("teams").set({ spend_limit_usd: "5" }).where("name", "=", "limited").execute();
  const body = { prompt: { text: "do it" }, ...subagent("unpriced-one") };
  expect(await server.call(team, "POST", "/v1/agents", body)).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining("model unpriced-one of the sub-agent reviewer is unknown") } },
  });
});
