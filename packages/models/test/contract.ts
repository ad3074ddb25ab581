// What every wire must do, whatever it looks like on the network.
import type { ModelFault } from "@agentcli/engine";
import { call, cut, fail, fault, garbage, incomplete, type Reply, say, stall } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { type Asked, openBench, secretKey, textOf, type WireName } from "./harness.ts";

export function modelContract(wire: WireName): void {
  answers(wire);
  faults(wire);
  retries(wire);
  interruptions(wire);
}

const patchTool = {
  form: "freeform",
  name: "apply_patch",
  description: "Change files",
  grammar: { syntax: "lark", definition: "start: /.+/" },
} as const;

function answers(wire: WireName): void {
  test("plain text is shown as it comes and replied whole, with model and usage", async () => {
    const usage = { inputTokens: 1200, cachedInputTokens: 1000, outputTokens: 34, reasoningOutputTokens: 12 };
    const { ask } = await openBench(wire, [say("Hello there, friend", { deltas: 6, usage, model: "gpt-5.4-today" })]);
    const { reply, progress } = await ask();
    expect(reply).toMatchObject({
      kind: "replied",
      blocks: [{ type: "message", text: "Hello there, friend" }],
      usage: { ...usage, cacheWriteInputTokens: 0 },
      model: "gpt-5.4-today",
    });
    expect(progress.length).toBe(6);
    expect(textOf(progress, "text")).toBe("Hello there, friend");
  });

  test("a tool call is announced early and replied with its arguments as written", async () => {
    const { ask } = await openBench(wire, [call("exec_command", '{"cmd": "ls" }', { deltas: 4 })]);
    const { reply, progress } = await ask();
    expect(progress).toEqual([{ type: "calling", name: "exec_command" }]);
    expect(reply).toMatchObject({
      blocks: [{ type: "call", wireId: "call_0_0", name: "exec_command", form: "function", input: '{"cmd": "ls" }' }],
    });
  });

  test("a message and several calls keep their order", async () => {
    const { ask } = await openBench(wire, [
      {
        messages: ["Both at once"],
        deltas: 3,
        calls: [
          { name: "read_file", arguments: { path: "a" } },
          { name: "list_dir", arguments: { path: "b" }, callId: "call_x" },
          { name: "read_file", arguments: "not json" },
        ],
      },
    ]);
    const { reply } = await ask();
    expect(reply).toMatchObject({
      blocks: [
        { type: "message", text: "Both at once" },
        { type: "call", wireId: "call_0_0", name: "read_file", input: '{"path":"a"}' },
        { type: "call", wireId: "call_x", name: "list_dir", input: '{"path":"b"}' },
        { type: "call", wireId: "call_0_2", name: "read_file", input: "not json" },
      ],
    });
  });

  test("a freeform call comes back as the text the model wrote", async () => {
    const patch = '*** Begin Patch\n*** Add File: "a"\n+1\n*** End Patch';
    const { ask } = await openBench(wire, [
      { calls: [{ name: "apply_patch", arguments: patch, freeform: true }], deltas: 5 },
    ]);
    const { reply } = await ask({ tools: [patchTool] });
    expect(reply).toMatchObject({ blocks: [{ type: "call", name: "apply_patch", form: "freeform", input: patch }] });
  });

  test("characters that are split between chunks arrive whole", async () => {
    const text = "Grüße, 世界 👩‍🚀 and \u2028 more";
    const { ask } = await openBench(wire, [say(text, { deltas: 9, chunkBytes: 1 })]);
    const { reply, progress } = await ask();
    expect(reply).toMatchObject({ blocks: [{ type: "message", text }] });
    expect(textOf(progress, "text")).toBe(text);
  });

  test("slow tokens are no silence, even when the whole answer takes longer than the idle limit", async () => {
    const { ask } = await openBench(wire, [say("slow but steady", { deltas: 15, deltaDelayMs: 60 })], { idleMs: 600 });
    expect((await ask()).reply).toMatchObject({ kind: "replied", blocks: [{ text: "slow but steady" }] });
  });

  test("two megabytes in 65,536 deltas arrive whole", async () => {
    const { ask } = await openBench(wire, [{ text: { bytes: 2_000_000, deltas: 65_536 } }]);
    const { reply, progress } = await ask();
    expect(progress).toHaveLength(65_536);
    const text = textOf(progress, "text");
    expect(text).toHaveLength(2_000_000);
    expect(reply).toMatchObject({ kind: "replied", blocks: [{ type: "message", text }] });
  });

  test("an answer without usage counts as none", async () => {
    const { ask } = await openBench(wire, [say("hi", { usage: null })]);
    expect((await ask()).reply).toMatchObject({ kind: "replied", usage: { inputTokens: 0, outputTokens: 0 } });
  });

  test("each request says who asks, with which key, for which thread", async () => {
    const { ask, requests } = await openBench(wire, [say("hi")], {
      headers: { "X-Team": "blue", Originator: "mine" },
      query: { "api-version": "1 2" },
    });
    await ask();
    expect(requests()[0]?.path).toMatch(/\?api-version=1(\+|%20)2$/);
    expect(requests()[0]?.headers).toMatchObject({
      accept: "text/event-stream",
      "content-type": "application/json",
      authorization: `Bearer ${secretKey}`,
      originator: "mine",
      "x-team": "blue",
      "user-agent": `agentcli/1.2.3 (${process.platform}; ${process.arch})`,
      "session-id": "thread-1",
      "thread-id": "thread-1",
    });
  });

  test("without a key no authorization is sent", async () => {
    const { ask, requests } = await openBench(wire, [say("hi")], { apiKey: undefined });
    await ask();
    expect(requests()[0]?.headers).not.toHaveProperty("authorization");
    expect(requests()[0]?.headers.originator).toBe("agent_exec");
  });

  test("the same request gives the same bytes", async () => {
    const { ask, requests } = await openBench(wire, { replies: [say("hi")], repeat: "last" });
    await ask();
    await ask();
    expect(JSON.stringify(requests()[0]?.body)).toBe(JSON.stringify(requests()[1]?.body));
  });
}

interface FaultCase {
  title: string;
  reply: Reply;
  expected: Partial<ModelFault>;
  requests: number;
}

const once = (title: string, reply: Reply, expected: Partial<ModelFault>): FaultCase => ({
  title,
  reply,
  expected,
  requests: 1,
});
const afterRequestRetries = (title: string, reply: Reply, expected: Partial<ModelFault>): FaultCase => ({
  title,
  reply,
  expected,
  requests: 3,
});
const afterStreamRetries = (title: string, reply: Reply, expected: Partial<ModelFault>): FaultCase => ({
  title,
  reply,
  expected,
  requests: 4,
});

const tooLong = { error: { message: "maximum context length is 8192 tokens", code: "context_length_exceeded" } };

const faultCases: FaultCase[] = [
  once("401", fault(401), { code: "auth", status: 401 }),
  once("403", fault(403), { code: "auth", status: 403 }),
  once("400", fault(400, { body: { error: { message: "bad tool" } } }), { code: "refused", status: 400 }),
  once("404", fault(404), { code: "refused", status: 404 }),
  once("307", fault(307, { headers: { location: "https://elsewhere.example" } }), { code: "refused", status: 307 }),
  once("400 for the context window", fault(400, { body: tooLong }), { code: "context_window", status: 400 }),
  once("429 for a spent quota", fault(429, { body: { error: { code: "insufficient_quota" } } }), {
    code: "rate_limited",
  }),
  once("a failure for the context window", fail("context_length_exceeded", "too long"), { code: "context_window" }),
  once("a failure for the quota", fail("insufficient_quota", "no money"), { code: "refused" }),
  once("a failure for the prompt", fail("invalid_prompt", "no"), { code: "refused" }),
  once("an answer cut by the token limit", incomplete("max_output_tokens"), { code: "protocol" }),
  once("an answer stopped by a filter", incomplete("content_filter"), { code: "refused" }),
  afterRequestRetries("429", fault(429), { code: "rate_limited", status: 429 }),
  afterRequestRetries("500", fault(500), { code: "overloaded", status: 500 }),
  afterRequestRetries("529", fault(529, { body: "not json" }), { code: "overloaded", status: 529 }),
  afterRequestRetries("a failure for load", fail("server_is_overloaded", "busy"), { code: "overloaded" }),
  afterRequestRetries("a failure for rate", fail("rate_limit_exceeded", "try again in 1.5s"), {
    code: "rate_limited",
    retryAfterMs: 1500,
  }),
  afterRequestRetries("no first byte", stall("before-headers"), { code: "limit", limit: "first-byte" }),
  afterStreamRetries("silence after the headers", stall("after-headers"), { code: "limit", limit: "idle" }),
  afterStreamRetries("silence in the middle", stall(2), { code: "limit", limit: "idle" }),
  afterStreamRetries("a cut before the first event", cut(0), { code: "stream_cut" }),
  afterStreamRetries("a cut between events", cut(2), { code: "stream_cut" }),
  afterStreamRetries("a cut within an event", cut("half"), { code: "stream_cut" }),
  afterStreamRetries("a stream that just ends", garbage(": nothing\n\n"), { code: "stream_cut" }),
  afterStreamRetries("an empty stream", garbage(""), { code: "stream_cut" }),
  afterStreamRetries("an unknown failure", fail("server_error", "oops"), { code: "stream_cut" }),
  afterStreamRetries("data that is not JSON", garbage("data: {oops\n\n"), { code: "protocol" }),
  afterStreamRetries("a page instead of events", garbage("<html>", "text/html"), { code: "protocol" }),
];

function faults(wire: WireName): void {
  test.each(faultCases)("$title becomes fault $expected.code after $requests requests", async (faultCase) => {
    const { ask, requests } = await openBench(
      wire,
      { replies: [faultCase.reply], repeat: "last" },
      { requestMaxRetries: 2, streamMaxRetries: 3, firstByteMs: 250, idleMs: 250 },
    );
    const { reply, progress } = await ask();
    expect(reply).toMatchObject({ kind: "fault", fault: faultCase.expected });
    expect(requests()).toHaveLength(faultCase.requests);
    expect(progress.filter(({ type }) => type === "retrying")).toHaveLength(faultCase.requests - 1);
  });

  test("a server that is not there is a network fault after retries", async () => {
    const { ask, closeServer, waits } = await openBench(wire, []);
    await closeServer();
    expect(await faultOf(ask())).toMatchObject({ code: "network", message: expect.stringContaining("ECONNREFUSED") });
    expect(waits).toHaveLength(4);
  });

  test("a refused key is told with the provider and the ways to set one", async () => {
    const { ask } = await openBench(wire, [fault(401, { body: { error: { message: "Bad key" } } })]);
    const { message } = await faultOf(ask());
    expect(message).toMatch(
      /^Test server answered HTTP 401: Bad key The API key was refused\. Set one with .*AGENT_API_KEY/,
    );
  });

  test("the server's own words are quoted, but not at any length", async () => {
    const { ask } = await openBench(wire, [fault(400, { body: { error: { message: `No: ${"x".repeat(5000)}` } } })]);
    const { message } = await faultOf(ask());
    expect(message).toContain("No: xxx");
    expect(message.length).toBeLessThan(600);
  });

  test("no fault shows a key, even where the server repeats it", async () => {
    const echo = { error: { message: `key ${secretKey} and tenant-secret-1 are wrong`, code: "server_error" } };
    const replies = [fault(401, { body: echo }), fault(500, { body: echo }), fail("oops", echo.error.message)];
    const { ask } = await openBench(wire, replies, {
      headers: { "x-api-key": "tenant-secret-1" },
      requestMaxRetries: 0,
      streamMaxRetries: 0,
    });
    for (const _ of replies) {
      const { message } = await faultOf(ask());
      expect(message).toContain("key [hidden] and [hidden] are wrong");
    }
  });

  test("a key that cannot be a header is a fault that does not show it", async () => {
    const { ask } = await openBench(wire, [], { apiKey: "sk-line\nbreak" });
    const { code, message } = await faultOf(ask());
    expect(code).toBe("refused");
    expect(message).toContain("authorization");
    expect(message).not.toContain("sk-line");
  });
}

function retries(wire: WireName): void {
  test("a request is tried again with doubling waits until it is answered", async () => {
    const { ask, requests, waits } = await openBench(wire, [fault(503), fault(502), fault(500), say("at last")]);
    const { reply, progress } = await ask();
    expect(reply).toMatchObject({ kind: "replied", blocks: [{ text: "at last" }] });
    expect(requests()).toHaveLength(4);
    expect(waits).toEqual([200, 400, 800]);
    expect(progress.slice(0, 3)).toMatchObject([
      { type: "retrying", attempt: 1, of: 4, delayMs: 200, reason: expect.stringContaining("503") },
      { type: "retrying", attempt: 2, of: 4, delayMs: 400 },
      { type: "retrying", attempt: 3, of: 4, delayMs: 800 },
    ]);
  });

  test("a reply after a cut stream holds nothing of the abandoned attempt", async () => {
    const { ask } = await openBench(wire, [{ messages: ["abandoned"], deltas: 8, cutAfter: 5 }, say("kept")]);
    const { reply } = await ask();
    expect(reply).toMatchObject({ kind: "replied", blocks: [{ type: "message", text: "kept" }] });
    expect(reply).toHaveProperty("blocks.length", 1);
  });

  test("requests and streams have allowances of their own", async () => {
    const script = [fault(500), cut(2), fault(500), cut(2), say("hi")];
    const { ask, waits } = await openBench(wire, script, { requestMaxRetries: 2, streamMaxRetries: 2 });
    expect((await ask()).reply.kind).toBe("replied");
    expect(waits).toEqual([200, 200, 400, 400]);
  });

  test("chance moves a wait by a tenth at most", async () => {
    for (const [random, waitMs] of [
      [0, 180],
      [0.999, 220],
    ] as const) {
      const { ask, waits } = await openBench(wire, [fault(500), say("hi")], { random: () => random });
      await ask();
      expect(waits).toEqual([waitMs]);
    }
  });

  test.each<{ title: string; headers: Record<string, string>; waitMs: number }>([
    { title: "in seconds", headers: { "retry-after": "2" }, waitMs: 2000 },
    { title: "in milliseconds", headers: { "retry-after-ms": "350", "retry-after": "1" }, waitMs: 350 },
    {
      title: "as a date",
      headers: { date: "Mon, 02 Nov 2026 10:00:00 GMT", "retry-after": "Mon, 02 Nov 2026 10:00:30 GMT" },
      waitMs: 30_000,
    },
  ])("a wait the server asks for $title is kept", async ({ headers, waitMs }) => {
    const { ask, waits } = await openBench(wire, [fault(429, { headers }), say("hi")]);
    expect((await ask()).reply.kind).toBe("replied");
    expect(waits).toEqual([waitMs]);
  });

  test("a server that asks for more than a minute is not waited for", async () => {
    const { ask, waits } = await openBench(wire, [fault(429, { headers: { "retry-after": "61" } })]);
    expect(await faultOf(ask())).toMatchObject({ code: "rate_limited", retryAfterMs: 61_000 });
    expect(waits).toEqual([]);
  });
}

function interruptions(wire: WireName): void {
  const interrupted = { kind: "fault", fault: { code: "interrupted" } };

  test("an abort in the middle of an answer ends it at once", async () => {
    const { ask, requests } = await openBench(wire, [{ messages: ["a very long answer"], deltas: 10, stall: 6 }]);
    const stop = new AbortController();
    const { reply } = await ask({}, { signal: stop.signal, onProgress: () => stop.abort() });
    expect(reply).toMatchObject(interrupted);
    expect(requests()).toHaveLength(1);
  });

  test("an abort before the answer begins ends the request at once", async () => {
    const { ask, requests } = await openBench(wire, [stall("before-headers")]);
    const stop = new AbortController();
    const asked = ask({}, { signal: stop.signal });
    await expect.poll(() => requests().length).toBe(1);
    stop.abort();
    expect((await asked).reply).toMatchObject(interrupted);
  });

  test("an abort while waiting to try again ends the wait at once", async () => {
    const { ask, requests } = await openBench(wire, [fault(500), say("never asked for")], { delay: undefined });
    const stop = new AbortController();
    const onProgress = () => stop.abort();
    expect((await ask({}, { signal: stop.signal, onProgress })).reply).toMatchObject(interrupted);
    expect(requests()).toHaveLength(1);
  });

  test("an aborted signal sends no request", async () => {
    const { ask, requests } = await openBench(wire, [say("hi")]);
    expect((await ask({}, { signal: AbortSignal.abort() })).reply).toMatchObject(interrupted);
    expect(requests()).toHaveLength(0);
  });
}

async function faultOf(asked: Promise<Asked>): Promise<ModelFault> {
  const { reply } = await asked;
  if (reply.kind !== "fault") throw new Error(`expected a fault, got ${JSON.stringify(reply)}`);
  return reply.fault;
}
