// What goes over the wire, and what failures become.
import { expect, test } from "vitest";
import { agentCalls } from "../src/agents.ts";
import * as errors from "../src/errors.ts";
import type { AgentOptions, SendOptions } from "../src/options.ts";
import {
  type Answer,
  agentId,
  frame,
  json,
  problem,
  quickSurroundings,
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
    cloud: { repos: [{ url: "https://host/o/r", startingRef: "main" }], autoCreatePR: true, metadata: { team: "a" } },
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
    "exclude each other",
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

test("an id that somebody else has is the caller's to solve", async () => {
  const platform = await scriptedPlatform({ [agents]: problem(409, "agent_id_conflict") });
  const agent = await platform.Agent.create({ agentId });
  await expect(agent.send("Go")).rejects.toThrow(errors.ConfigurationError);
  expect(platform.asked).toHaveLength(1);
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
  [409, "agent_busy", errors.AgentBusyError, "no: agent_busy"],
  [404, "agent_not_found", errors.AgentNotFoundError, "[agent_not_found] no: agent_not_found"],
  [400, "validation_error", errors.ConfigurationError, "[validation_error] no: validation_error"],
  [403, "forbidden", errors.UnknownAgentError, "no: forbidden"],
  [413, "payload_too_large", errors.UnknownAgentError, "no: payload_too_large"],
  [503, "unavailable", errors.NetworkError, "no: unavailable"],
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

test("answers of proxies, and what is no JSON, still make an error that says something", async () => {
  const proxy = await scriptedPlatform({
    "GET /v1/me": (_, response) => refuse(response, 403, { error: "Forbidden", message: "Not through here." }),
  });
  await expect(proxy.Platform.me()).rejects.toMatchObject({ code: "unknown", message: "Not through here." });
  const page = await scriptedPlatform({ "GET /v1/me": (_, response) => response.end("<html>") });
  await expect(page.Platform.me()).rejects.toThrow(/GET \/v1\/me got no answer/);
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
  await expect(Agent.create()).rejects.toThrow("There is no API key");
  await expect(agentCallsWith({ PLATFORM_API_KEY: "plt_a" }).Agent.create({ apiKey: "" })).rejects.toThrow(
    "apiKey is empty",
  );
  await expect(agentCallsWith({ PLATFORM_API_KEY: "plt_a" }).Agent.list({ backendUrl: "ftp://x" })).rejects.toThrow(
    "no address of a platform",
  );
});

const agentCallsWith = (variables: Record<string, string>) => ({
  Agent: agentCalls(quickSurroundings(variables).surroundings),
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

test("updates and steps are told in order, and waiting waits for them", async () => {
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
  const told: string[] = [];
  const observers: SendOptions = {
    onDelta: ({ update: one }) => told.push(one.type),
    onStep: ({ step }) => told.push(step.type),
  };
  const run = await (await platform.Agent.create()).send("Go", observers);
  await run.wait();
  expect(told).toEqual(["step-started", "text-delta", "step-completed", "assistantMessage"]);
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
