// MCP servers of automations: they reach the run, their values are never shown, and do not go with it to the team.
import type { Firing } from "@agentcli/protocol/api";
import { call, replyWith } from "@agentcli/testkit";
import { startHttpMcpServer } from "@agentcli/testkit/mcp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestServer, testServer } from "../harness/platform.ts";
import { openRunHarness } from "../runs/run-harness.ts";

const secret = "Bearer sesame-open-wide";
const address = "https://tools.example/mcp";
let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await testServer({ roles: ["api"] });
  key = await server.key();
});
afterAll(() => server.close());

const definition = { name: "watch", prompt: { text: "look" }, triggers: [{ type: "webhook" }] };
const servers = (value: string, url = address) => [{ name: "remote", url, headers: { authorization: value } }];

const post = (body: object) => server.call(key, "POST", "/v1/automations", { ...definition, ...body });

/** Its path. */
async function create(name: string): Promise<string> {
  const { status, body } = await post({ name, tools: { mcpServers: servers(secret) } });
  expect(status).toBe(201);
  return `/v1/automations/${(body as { id: string }).id}`;
}

/** What it says about the members that are wrong. */
async function refusalOf(answer: Promise<{ status: number; body: unknown }>): Promise<string> {
  const { status, body } = await answer;
  expect(status).toBe(400);
  return JSON.stringify(body);
}

test("a run calls the MCP servers of its automation with their headers, whose values are shown nowhere", async () => {
  const remote = await startHttpMcpServer();
  const { client, records, requests } = await openRunHarness({
    replies: [call("mcp__remote__echo", { message: "hello" }), replyWith(`It is ${secret}.`)],
  });
  const tools = { mcpServers: servers(secret, remote.url) };
  const shown = { tools: { mcpServers: servers("***", remote.url) } };
  const { body } = await client.post("/v1/automations", { ...definition, tools });
  expect(body).toMatchObject(shown);
  const path = `/v1/automations/${(body as { id: string }).id}`;
  // What was read is sent back with a change, and keeps the value.
  const read = await client.getJson<{ tools: object }>(path);
  expect(await client.send("PATCH", path, { tools: { ...read.tools, memories: false } })).toMatchObject({
    status: 200,
  });
  expect((await client.send("PATCH", path, { description: "Asks." })).status).toBe(200);
  expect(await client.getJson(path)).toMatchObject(shown);
  const { agentId = "", runId = "" } = (await client.post(`${path}/run`)).body as Firing;
  const frames = await client.stream({ agentId, runId });
  expect(remote.requests.length).toBeGreaterThan(0);
  expect(remote.requests.every(({ headers }) => headers.authorization === secret)).toBe(true);
  const everything = JSON.stringify([frames, await records(agentId), requests(), await client.getJson(path)]);
  expect(everything).toContain("mcp__remote__echo");
  expect(everything).not.toContain("sesame");
});

test("a hidden value is kept for the same server only, and never invented", async () => {
  const path = await create("kept");
  const change = (body: object) => server.call(key, "PATCH", path, body);
  const elsewhere = { tools: { mcpServers: servers("***", "https://elsewhere.example/mcp") } };
  const hidden = /tools\.mcpServers\.0\.headers\.authorization: is hidden, and no value is stored/;
  expect(await refusalOf(change(elsewhere))).toMatch(hidden);
  expect(await refusalOf(post({ name: "fresh", ...elsewhere }))).toMatch(hidden);
});

test("an automation becomes one of the team only with values for the team in place of those of its user", async () => {
  const path = await create("promoted");
  const change = (body: object) => server.call(key, "PATCH", path, body);
  const personal = /tools\.mcpServers\.0\.headers\.authorization: an automation of the team does not use/;
  expect(await refusalOf(change({ scope: "team_owned" }))).toMatch(personal);
  const same = { scope: "team_owned", tools: { mcpServers: servers("***") } };
  expect(await refusalOf(change(same))).toMatch(personal);
  expect(await server.call(key, "GET", path)).toMatchObject({ body: { scope: "private" } });
  const given = { scope: "team_owned", tools: { mcpServers: servers("Bearer of-the-team") } };
  expect(await change(given)).toMatchObject({ status: 200, body: { scope: "team_owned" } });
});

test.each([
  [
    { sendToChat: { enabled: true, channel: "C1" } },
    /tools\.sendToChat\.enabled: this platform is connected to no chat/,
  ],
  [{ readChat: true }, /tools\.readChat: this platform is connected to no chat/],
  [{ computerUse: true }, /tools\.computerUse: this platform gives runs no desktop/],
  [{ mcpServers: [{ name: "a", type: "sse", url: "https://a.example" }] }, /tools\.mcpServers\.0\.type: .*use http/],
])("a tool that there is not is refused and named: %j", async (tools, refusal) => {
  expect(await refusalOf(post({ name: "wanting", tools }))).toMatch(refusal);
});

test("tools that there are not may be named as off, as the wire has them", async () => {
  const off = { sendToChat: { enabled: false, channel: null }, readChat: false, computerUse: false };
  expect(await post({ name: "off", tools: off })).toMatchObject({ status: 201, body: { tools: off } });
});
