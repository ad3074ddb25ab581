import { connect } from "node:net";
import { cut, fault, incomplete, replyWith, stall } from "@agentcli/testkit";
import { type ApiResponse, openClient } from "@agentcli/testkit/platform";
import { describe, expect, test } from "vitest";
import { openRunHarness } from "../runs/run-harness.ts";
import { ask, callsIn, eventsOf, json, modelThrough, path, question } from "./inference-harness.ts";

const image = (image_url: string) => ({ type: "input_image", image_url });

describe("a provider response", () => {
  test("that fails before any output is an error status with our own message, and costs nothing", async () => {
    const { client, fixture } = await openRunHarness({
      replies: [
        fault(401, { body: { error: { message: "Incorrect API key sk-secret" } } }),
        fault(429, { headers: { "retry-after": "7" } }),
        fault(500),
        fault(400, { body: { error: { code: "context_length_exceeded", message: "too long" } } }),
        fault(400, { body: { error: { message: "see http://provider.invalid" } } }),
        fault(302, { headers: { location: "http://provider.invalid" } }),
      ],
    });
    const answers: ApiResponse[] = [];
    for (let number = 0; number < 6; number += 1) answers.push(await ask(client, { input: "Hi", stream: number < 3 }));
    expect(answers.map(({ status }) => status)).toEqual([503, 429, 503, 400, 400, 400]);
    expect(answers[1]?.headers["retry-after"]).toBe("7");
    expect(json(answers[3] as ApiResponse).error.message).toMatch(/context window/);
    const output = answers.map(({ bytes: body }) => body.toString()).join();
    expect(output).not.toMatch(/sk-secret|provider\.invalid|127\.0\.0\.1/);
    expect((await callsIn(fixture)).map(({ status, cost_usd }) => [status, cost_usd])).toEqual(
      Array.from({ length: 6 }, () => ["failed", "0"]),
    );
  });

  test("that fails halfway ends with an error event, and the output so far is charged", async () => {
    const { client, fixture } = await openRunHarness({ replies: [cut("half", "Word ".repeat(200))] });
    const events = eventsOf(await ask(client, { input: "Hi", stream: true }));
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: { code: "server_error", message: expect.stringContaining("scripted") } },
    });
    const [row] = await callsIn(fixture);
    expect(row?.status).toBe("failed");
    expect(Number(row?.cost_usd)).toBeGreaterThan(0);
  });

  test("that exceeds the output limit returns the output so far", async () => {
    for (const wireApi of ["responses", "chat"] as const) {
      const usage = { inputTokens: 5, outputTokens: 9 };
      const reply = { ...incomplete("max_output_tokens"), usage };
      const { client, fixture } = await openRunHarness({ replies: [reply, reply], wireApi });
      const answer = json(await ask(client, { input: "Hi", max_output_tokens: 16 }));
      expect(answer).toMatchObject({
        status: "incomplete",
        incomplete_details: { reason: "max_output_tokens" },
        output: [{ type: "message", content: [{ text: "a reply that is too long" }] }],
        usage: { output_tokens: 9 },
      });
      expect(eventsOf(await ask(client, { input: "Hi", stream: true })).at(-1)?.type).toBe("response.incomplete");
      expect(await callsIn(fixture)).toMatchObject([{ status: "incomplete", output_tokens: 9 }, {}]);
    }
  });
});

test("a client that disconnects ends the request to the provider and is charged for its usage", async () => {
  const harness = await openRunHarness({ replies: [stall(3), replyWith("Later.")] });
  const { fixture, requests } = harness;
  const leaving = new AbortController();
  const left = modelThrough(harness).reply(
    question,
    (progress) => progress.type === "text" && leaving.abort(),
    leaving.signal,
  );
  expect(await left).toMatchObject({ kind: "fault", fault: { code: "interrupted" } });
  await expect.poll(() => callsIn(fixture)).toMatchObject([{ status: "cut", ended_at: expect.any(Date) }]);
  const [row] = await callsIn(fixture);
  expect(Number(row?.cost_usd)).toBeGreaterThan(0);
  expect(requests()).toHaveLength(1);
});

test("a client that reads nothing is disconnected before the response fills the server's memory", async () => {
  const { client, fixture } = await openRunHarness({ replies: [replyWith("word ".repeat(5_000_000))] });
  const body = JSON.stringify({ model: "scripted", input: "Hi", stream: true });
  const { hostname, port } = new URL(client.url);
  const lines = [`POST ${path} HTTP/1.1`, `host: ${hostname}`, `authorization: Bearer ${fixture.key}`];
  const head = [...lines, "content-type: application/json", `content-length: ${body.length}`].join("\r\n");
  const socket = connect(Number(port), hostname).pause();
  socket.on("error", () => {});
  socket.write(`${head}\r\n\r\n${body}`);
  await expect.poll(() => callsIn(fixture)).toMatchObject([{ ended_at: expect.any(Date) }]);
  let read = "";
  socket.on("data", (chunk) => {
    read += chunk.toString("latin1");
  });
  socket.resume();
  await new Promise((resolve) => socket.once("close", resolve));
  expect(read).not.toContain("event: response.completed");
  expect((await callsIn(fixture)).map(({ status }) => status)).not.toContain("failed");
});

test("a server that stops ends calls in progress, and all of them are settled", async () => {
  const harness = await openRunHarness({ replies: [stall("after-headers")] });
  const asked = ask(harness.client, { input: "Hi" });
  await expect.poll(() => harness.requests().length).toBe(1);
  await harness.stop();
  expect(json(await asked)).toMatchObject({ error: { code: "unavailable" } });
  expect(await callsIn(harness.fixture)).toMatchObject([{ status: "cut" }]);
});

describe("refused before any model call or charge", () => {
  const cases: [what: string, body: object, status: number, code: string, words: RegExp][] = [
    ["a model that is not there", { model: "nothing", input: "Hi" }, 400, "invalid_model", /Available: scripted/],
    ["no input", {}, 400, "validation_error", /input/],
    ["an earlier response", { input: "Hi", previous_response_id: "resp_1" }, 400, "validation_error", /send it whole/],
    ["a forced tool", { input: "Hi", tool_choice: "required" }, 400, "validation_error", /auto or none/],
    ["a tool of the provider's", { input: "Hi", tools: [{ type: "web_search" }] }, 400, "validation_error", /tools\.0/],
    ["an item of another kind", { input: [{ type: "item_reference", id: "x" }] }, 400, "validation_error", /input/],
    [
      "a local file",
      { input: [{ role: "user", content: [image("file:///x")] }] },
      400,
      "validation_error",
      /image_url/,
    ],
  ];
  test.each(cases)("%s", async (_what, body, status, code, words) => {
    const { client, fixture, requests } = await openRunHarness({ replies: [] });
    const answer = await ask(client, body);
    expect([answer.status, json(answer).error.code]).toEqual([status, code]);
    expect(json(answer).error.message).toMatch(words);
    expect([requests(), await callsIn(fixture)]).toEqual([[], []]);
  });

  test("a key without the scope", async () => {
    const { client, fixture } = await openRunHarness({ replies: [] });
    const owner = { kind: "user", email: null } as const;
    const scopes = ["agents:write" as const];
    const { key } = await fixture.platform.principals.createKey({
      name: "n",
      team: "default",
      owner,
      scopes,
      expiresAt: null,
    });
    const answer = await openClient(client.url, key).send("POST", path, { model: "practice", input: "Hi" });
    expect(json(answer)).toMatchObject({
      error: { code: "forbidden", message: expect.stringContaining("inference:create") },
    });
  });
});

test("this month's usage shows the cost of each model, only to the principal that called it", async () => {
  const usage = { inputTokens: 1_000, outputTokens: 100 };
  const { client, fixture } = await openRunHarness({
    replies: [replyWith("One.", { usage }), replyWith("Two.", { usage: null })],
  });
  await ask(client, { input: "Hi" });
  await ask(client, { input: "Hi" });
  const own = await client.getJson<{ totalUsage: object }>("/v1/inference/usage");
  expect(own).toMatchObject({ calls: 2, models: [{ model: "scripted", calls: 2 }] });
  expect(own.totalUsage).toMatchObject({ inputTokens: expect.any(Number), outputTokens: expect.any(Number) });
  const [first, second] = await callsIn(fixture);
  expect(Number(first?.cost_usd)).toBeCloseTo(0.002);
  expect(Number(second?.cost_usd)).toBeGreaterThan(0);
  const owner = { kind: "service_account", name: "ci" } as const;
  const { key } = await fixture.platform.principals.createKey({
    name: "n",
    team: "default",
    owner,
    scopes: null,
    expiresAt: null,
  });
  expect(await openClient(client.url, key).getJson("/v1/inference/usage")).toMatchObject({
    calls: 0,
    cost: { rawCostCents: 0 },
  });
});

test("no content of prompts or responses is stored or logged", async () => {
  const { client, fixture } = await openRunHarness({ replies: [replyWith("a secret answer")] });
  await ask(client, { input: "a secret question", stream: true });
  expect(JSON.stringify(await callsIn(fixture))).not.toContain("secret");
});
