// What goes over the wire, and what failures become.
import { statSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { accountCalls } from "../src/account.ts";
import { agentCalls } from "../src/agents.ts";
import { DEFAULT_LOGIN_API_KEY_TTL_MS } from "../src/auth.ts";
import * as errors from "../src/errors.ts";
import type { AgentOptions, SendOptions } from "../src/options.ts";
import {
  type Answer,
  agentId,
  frame,
  json,
  problem,
  quickRuntime,
  refuse,
  runId,
  runPath,
  scriptedPlatform,
  sendEvents,
  wireRun,
} from "./scripted-platform.ts";

const models = json({ items: [{ id: "large", displayName: "Large", aliases: ["big"] }] });
const created = json({ agent: { id: agentId }, run: wireRun() });
const agents = "POST /v1/agents";
const runs = `POST /v1/agents/${agentId}/runs`;

test("the first prompt creates the agent under an id chosen here, later ones are runs", async () => {
  const platform = await scriptedPlatform({
    "GET /v1/models": models,
    [agents]: created,
    [runs]: json({ run: wireRun() }),
  });
  const options: AgentOptions = {
    model: { id: "big" },
    name: "Fixer",
    mode: "plan",
    mcpServers: {
      docs: { url: "https://docs.example", headers: { a: "b" } },
      files: { command: "serve", args: ["x"] },
    },
    agents: { reader: { description: "Reads", prompt: "Read.", model: "inherit" } },
    cloud: {
      repos: [{ url: "https://host/o/r", startingRef: "main" }],
      autoCreatePR: true,
      recordRuns: true,
      metadata: { team: "a" },
    },
  };
  const agent = await platform.Agent.create(options);
  expect(platform.paths()).toEqual(["/v1/models"]);
  await agent.send({ text: "Fix it", images: [{ url: "https://host/i.png" }] });
  await agent.send("And now?", { model: { id: "large" }, cloud: { envVars: { A: "1" } } });
  await agent.send("And then?");
  const [, first, second, third] = platform.asked;
  const mcpServers = [
    { name: "docs", type: "http", url: "https://docs.example", headers: { a: "b" } },
    { name: "files", type: "stdio", command: "serve", args: ["x"] },
  ];
  expect(first?.body).toEqual({
    agentId,
    prompt: { text: "Fix it", images: [{ url: "https://host/i.png" }] },
    model: { id: "big" },
    name: "Fixer",
    mode: "plan",
    mcpServers,
    customSubagents: [{ name: "reader", description: "Reads", prompt: "Read.", model: "inherit" }],
    repos: [{ url: "https://host/o/r", startingRef: "main" }],
    autoCreatePR: true,
    recordRuns: true,
    metadata: { team: "a" },
  });
  expect(second?.body).toEqual({
    prompt: { text: "And now?" },
    mcpServers,
    model: { id: "large" },
    envVars: { A: "1" },
  });
  expect(third?.body).toEqual({ prompt: { text: "And then?" }, mcpServers, model: { id: "large" } });
  expect(first?.headers).toMatchObject({ authorization: "Bearer plt_test", "x-platform-client-type": "sdk" });
  expect(new Set(platform.asked.slice(1).map(({ headers }) => headers["idempotency-key"])).size).toBe(3);
});

test("an agent with variables gets its id from the platform", async () => {
  const platform = await scriptedPlatform({ [agents]: created });
  const agent = await platform.Agent.create({ cloud: { envVars: { TOKEN: "t" } } });
  expect(() => agent.agentId).toThrow("with the first send");
  await agent.send("Go");
  expect(platform.asked[0]?.body).toEqual({ prompt: { text: "Go" }, envVars: { TOKEN: "t" } });
  expect(agent.agentId).toBe(agentId);
  await expect(platform.Agent.create({ agentId, cloud: { envVars: { A: "1" } } })).rejects.toThrow(
    "cannot be used with cloud.envVars",
  );
});

test("an answer with another agent's id is refused", async () => {
  const other = json({ agent: { id: agentId.replace(/1$/, "2") }, run: wireRun() });
  const platform = await scriptedPlatform({ [agents]: other });
  await expect((await platform.Agent.create()).send("Go")).rejects.toThrow("mismatched agent id");
});

test("the same prompt after a lost answer is the same request", async () => {
  const lost: Answer = (_, response) => response.destroy();
  const platform = await scriptedPlatform({
    [agents]: (asked, response, count) => (count < 3 ? lost : created)(asked, response, count),
  });
  const agent = await platform.Agent.create();
  await expect(agent.send("Go")).rejects.toMatchObject({ name: "NetworkError", code: "network", isRetryable: true });
  expect((await agent.send("Go")).id).toBe(runId);
  expect(platform.waits).toEqual([500, 1_000]);
  expect(new Set(platform.asked.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
});

test("another prompt after a lost answer goes to the agent that was made", async () => {
  const platform = await scriptedPlatform({
    [agents]: (asked, response, count) =>
      count < 3 ? response.destroy() : problem(409, "agent_id_conflict")(asked, response, 0),
    [runs]: json({ run: wireRun() }),
  });
  const agent = await platform.Agent.create();
  await expect(agent.send("Go")).rejects.toThrow(errors.NetworkError);
  await agent.send("Go on");
  expect(platform.asked.at(-1)?.body).toEqual({ prompt: { text: "Go on" } });
});

test("an id that another agent has is an error for the caller", async () => {
  const platform = await scriptedPlatform({ [agents]: problem(409, "agent_id_conflict") });
  const agent = await platform.Agent.create({ agentId });
  await expect(agent.send("Go")).rejects.toThrow(errors.ConfigurationError);
  expect(platform.asked).toHaveLength(1);
});

test("a generated id that another agent has is replaced, once", async () => {
  const platform = await scriptedPlatform({
    [agents]: (asked, response, count) =>
      (count === 0 ? problem(409, "agent_id_conflict") : json({ agent: { id: asked.body.agentId }, run: wireRun() }))(
        asked,
        response,
        count,
      ),
  });
  const agent = await platform.Agent.create();
  await agent.send("Go");
  expect(platform.asked.map(({ body }) => body.agentId)).toEqual([agentId, agent.agentId]);
  expect(agent.agentId).not.toBe(agentId);
});

test("before the first prompt there are no files, and tools of this process are refused", async () => {
  const platform = await scriptedPlatform({});
  const agent = await platform.Agent.create();
  expect(await agent.listArtifacts()).toEqual([]);
  await expect(agent.downloadArtifact("artifacts/a")).rejects.toMatchObject({ code: "agent_not_created" });
  const customTools = { add: { execute: () => "3" } };
  await expect(agent.send("Go", { local: { customTools } })).rejects.toThrow(errors.ConfigurationError);
  const inline = { reader: { description: "Reads", prompt: "Read.", mcpServers: [{} as never] } };
  await expect(platform.Agent.create({ agents: inline })).rejects.toThrow("a sub-agent has none of its own");
  expect(platform.asked).toEqual([]);
});

test("a model that was refused with its prompt is not the agent's, and a run knows what it can do", async () => {
  const platform = await scriptedPlatform({
    [agents]: created,
    [runs]: (asked, response, count) =>
      (count === 0 ? problem(409, "agent_busy") : json({ run: wireRun() }))(asked, response, count),
  });
  const agent = await platform.Agent.create();
  const run = await agent.send("Go");
  await expect(agent.send("More", { model: { id: "large" } })).rejects.toThrow(errors.AgentBusyError);
  expect(agent.model).toBeUndefined();
  await agent.send("More");
  expect(platform.asked.at(-1)?.body).toEqual({ prompt: { text: "More" } });
  expect([run.supports("cancel"), run.supports("fly" as "wait")]).toEqual([true, false]);
  expect(run.unsupportedReason("fly" as "wait")).toContain("fly");
});

test("a given idempotency key is used as it is", async () => {
  const platform = await scriptedPlatform({ [agents]: created, [runs]: json({ run: wireRun() }) });
  const agent = await platform.Agent.create({ idempotencyKey: "create-1" });
  await agent.send("Go");
  await agent.send("On", { idempotencyKey: "run-1" });
  expect(platform.asked.map(({ headers }) => headers["idempotency-key"])).toEqual(["create-1", "run-1"]);
});

test("a model that the platform does not list is refused, unless the list cannot be had", async () => {
  const listed = await scriptedPlatform({ "GET /v1/models": models });
  await expect(listed.Agent.create({ model: { id: "huge" } })).rejects.toMatchObject({ code: "invalid_model" });
  const failures: Answer[] = [
    problem(401, "unauthorized"),
    problem(429, "rate_limited"),
    (_, response) => response.destroy(),
  ];
  for (const failure of failures) {
    const unlisted = await scriptedPlatform({ "GET /v1/models": failure });
    await expect(unlisted.Agent.create({ model: { id: "huge" } })).resolves.toBeDefined();
  }
});

test.each([
  [401, "unauthorized", errors.AuthenticationError, "no: unauthorized"],
  [429, "rate_limited", errors.RateLimitError, "no: rate_limited"],
  [409, "agent_busy", errors.AgentBusyError, "[agent_busy] no: agent_busy"],
  [404, "agent_not_found", errors.AgentNotFoundError, "[agent_not_found] no: agent_not_found"],
  [400, "validation_error", errors.ConfigurationError, "[validation_error] no: validation_error"],
  [403, "forbidden", errors.UnknownAgentError, "[forbidden] no: forbidden"],
  [413, "payload_too_large", errors.UnknownAgentError, "[payload_too_large] no: payload_too_large"],
  [503, "unavailable", errors.NetworkError, "[unavailable] no: unavailable"],
])("%i %s has its class", async (status, code, kind, message) => {
  const platform = await scriptedPlatform({ "GET /v1/me": problem(status, code) });
  const error = await platform.Platform.me().catch((thrown) => thrown);
  expect(error.constructor).toBe(kind);
  expect(error).toMatchObject({ message, code, status, requestId: "req-1", endpoint: "GET /v1/me", operation: "me" });
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({
    name: kind.name,
    code,
    status,
    isRetryable: error.isRetryable,
  });
});

test("an account that is not connected says where to connect it", async () => {
  const body = {
    code: "integration_not_connected",
    message: "Connect first.",
    helpUrl: "https://x/y",
    provider: "github",
  };
  const platform = await scriptedPlatform({ [agents]: (_, response) => refuse(response, 400, body) });
  const error = await (await platform.Agent.create()).send("Go").catch((thrown) => thrown);
  expect(error).toBeInstanceOf(errors.IntegrationNotConnectedError);
  expect(error).toMatchObject({ helpUrl: "https://x/y", provider: "github" });
});

test("answers of proxies, and answers that are not JSON, still make a readable error", async () => {
  const proxy = await scriptedPlatform({
    "GET /v1/me": (_, response) => refuse(response, 403, { error: "Forbidden", message: "Not through here." }),
  });
  await expect(proxy.Platform.me()).rejects.toMatchObject({ code: "unknown", message: "Not through here." });
  const page = await scriptedPlatform({ "GET /v1/me": (_, response) => response.end("<html>") });
  await expect(page.Platform.me()).rejects.toThrow(/GET \/v1\/me did not respond/);
});

test("what fails for the moment is asked again, what could happen twice is not", async () => {
  const flaky: Answer = (asked, response, count) =>
    (count === 0 ? problem(503, "unavailable") : json({ apiKeyName: "k" }))(asked, response, count);
  const platform = await scriptedPlatform({
    "GET /v1/me": flaky,
    [`POST ${runPath}/cancel`]: problem(503, "unavailable"),
    "GET /v1/repositories": (_, response) =>
      refuse(response, 429, { error: { code: "rate_limited", message: "Later." } }, { "retry-after": "60" }),
  });
  await expect(platform.Platform.me()).resolves.toEqual({ apiKeyName: "k" });
  await expect(platform.Agent.cancelRun(runId, { agentId })).rejects.toThrow(errors.NetworkError);
  await expect(platform.Platform.repositories.list()).rejects.toMatchObject({ retryAfterMs: 60_000 });
  expect(platform.asked).toHaveLength(4);
});

test("without a key nothing is asked", async () => {
  const { Agent } = agentCallsWith({});
  await expect(Agent.create()).rejects.toThrow("No API key is set");
  await expect(agentCallsWith({ PLATFORM_API_KEY: "plt_a" }).Agent.create({ apiKey: "" })).rejects.toThrow(
    "apiKey is empty",
  );
  await expect(agentCallsWith({ PLATFORM_API_KEY: "plt_a" }).Agent.list({ backendUrl: "ftp://x" })).rejects.toThrow(
    "is not the address of a platform",
  );
});

const agentCallsWith = (variables: Record<string, string>) => ({
  Agent: agentCalls(quickRuntime(variables).runtime),
});

test("a link to a file is followed without the key", async () => {
  const platform = await scriptedPlatform({
    [`GET /v1/agents/${agentId}/artifacts/download`]: (_, response) =>
      refuse(response, 200, { url: `${platform.url}/files/1?token=t`, expiresAt: "" }),
    "GET /files/1": (_, response) => response.end("content"),
  });
  const agent = await platform.Agent.resume(agentId);
  expect((await agent.downloadArtifact("artifacts/a b.txt")).toString()).toBe("content");
  expect(platform.paths()[0]).toBe(`/v1/agents/${agentId}/artifacts/download?path=artifacts%2Fa+b.txt`);
  expect(platform.asked[1]?.headers.authorization).toBeUndefined();
});

test("lists carry their query, and nothing that was not asked for", async () => {
  const platform = await scriptedPlatform({ "GET /v1/agents": json({ items: [], nextCursor: "c" }) });
  expect(await platform.Agent.list({ limit: 5, includeArchived: false })).toEqual({ items: [], nextCursor: "c" });
  expect(platform.paths()).toEqual(["/v1/agents?limit=5&includeArchived=false"]);
});

test("agents and usage are shown under the names of this package", async () => {
  const times = { createdAt: "2026-01-01T00:00:00.000Z", updatedAt: "2026-01-01T00:00:01.000Z" };
  const repos = [{ url: "https://host/o/r", startingRef: "main" }];
  const archived = { id: agentId, name: "Fixer", status: "ARCHIVED", url: "u", repos, ...times };
  const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4, totalTokens: 10 };
  const platform = await scriptedPlatform({
    [`GET /v1/agents/${agentId}`]: json(archived),
    [`GET /v1/agents/${agentId}/usage`]: json({ totalUsage: usage, runs: [{ id: runId, usage }] }),
    [`GET ${runPath}`]: json(wireRun()),
  });
  const bornAt = Date.parse(times.createdAt);
  expect(await platform.Agent.get(agentId)).toEqual({
    ...{ agentId, runtime: "cloud", name: "Fixer", summary: "Fixer", archived: true, url: "u" },
    ...{ createdAt: bornAt, lastModified: bornAt + 1000, repos: ["https://host/o/r"] },
  });
  const agent = await platform.Agent.resume(agentId);
  expect(await agent.getUsage({ runId })).toMatchObject({ usage, totalUsage: usage, runs: [{ runId, usage }] });
  expect(platform.paths().at(-1)).toBe(`/v1/agents/${agentId}/usage?runId=${runId}`);
  expect((await platform.Agent.getRun(runId, { runtime: "cloud", agentId })).createdAt).toBe(bornAt);
});

test("a login is kept for its owner, used where nothing else is given, and only for its platform", async () => {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const me: Answer = (asked, response) =>
    refuse(response, 200, { apiKeyName: String(asked.headers.authorization), userEmail: "a@b.c", createdAt: "" });
  const { url } = await scriptedPlatform({ "GET /v1/me": me });
  const Platform = accountCalls(quickRuntime({ HOME: home.path }).runtime);
  expect(await Platform.auth.status()).toEqual({ status: "logged-out" });
  const login = await Platform.auth.login({ apiKey: "plt_kept", backendUrl: url });
  expect(login).toMatchObject({ apiKey: "plt_kept", email: "a@b.c" });
  expect(login.apiKeyExpiresAtMs - Date.now()).toBeGreaterThan(DEFAULT_LOGIN_API_KEY_TTL_MS - 600_000);
  expect(statSync(join(home.path, ".platform/sdk/auth.json")).mode & 0o777).toBe(0o600);
  const status = await Platform.auth.status();
  expect(status).toMatchObject({ status: "logged-in", backendUrl: url, email: "a@b.c" });
  expect(JSON.stringify(status)).not.toContain("plt_kept");
  expect((await Platform.me()).apiKeyName).toBe("Bearer plt_kept");
  expect((await Platform.me({ apiKey: "plt_given", backendUrl: url })).apiKeyName).toBe("Bearer plt_given");
  const set = { HOME: home.path, PLATFORM_API_KEY: "plt_set", PLATFORM_BACKEND_URL: url };
  expect((await accountCalls(quickRuntime(set).runtime).me()).apiKeyName).toBe("Bearer plt_set");
  await expect(Platform.me({ backendUrl: "http://127.0.0.1:9" })).rejects.toThrow("No API key is set");
  await Platform.auth.login({ apiKey: "plt_old", backendUrl: url, apiKeyTtlMs: -1 });
  expect(await Platform.auth.status()).toEqual({ status: "logged-out" });
  await Platform.auth.logout();
  await expect(Platform.me({ backendUrl: url })).rejects.toThrow("No API key is set");
});

test("updates and steps are reported in order, and waiting waits for them", async () => {
  const update = (data: object, id: string) => frame("interaction_update", data, id);
  const text =
    update({ type: "step-started", stepId: 1 }, "1-1") +
    update({ type: "text-delta", text: "Hi" }, "1-2") +
    update({ type: "step-completed", stepId: 1, stepDurationMs: 1 }, "1-3") +
    frame("result", { runId, status: "FINISHED", text: "Hi" }, "1-4");
  const platform = await scriptedPlatform({
    [agents]: created,
    [`GET ${runPath}/stream`]: (_, r) => sendEvents(r, text),
  });
  const reported: string[] = [];
  const observers: SendOptions = {
    onDelta: async ({ update: one }) => {
      await new Promise((resolve) => setImmediate(resolve));
      reported.push(one.type);
    },
    onStep: ({ step }) => reported.push(step.type),
  };
  const run = await (await platform.Agent.create()).send("Go", observers);
  await run.wait();
  expect(reported).toEqual(["step-started", "text-delta", "step-completed", "assistantMessage"]);
  const failing = await (await platform.Agent.create({ agentId })).send("Go", {
    onDelta: () => {
      throw new Error("mine");
    },
  });
  await expect(failing.wait()).rejects.toThrow("mine");
});

test("a closed agent ends what follows its runs", async () => {
  const platform = await scriptedPlatform({
    [agents]: created,
    [`GET ${runPath}/stream`]: (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(frame("status", { runId, status: "RUNNING" }));
    },
  });
  const agent = await platform.Agent.create();
  const run = await agent.send("Go");
  const messages = run.stream();
  while ((await messages.next()).value?.type !== "status");
  const next = messages.next();
  await agent[Symbol.asyncDispose]();
  await expect(next).rejects.toMatchObject({ code: "closed" });
  await expect(agent.send("More")).rejects.toMatchObject({ code: "closed" });
});
