// Contract: every kind of failure is one fault, after the retries of its kind.
import type { ModelFault } from "@agentcli/engine";
import { cut, fail, fault, garbage, incomplete, type Reply, stall } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { faultOf, openHarness, secretKey, type WireName } from "../harness.ts";

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
  once("a response cut by the token limit", incomplete("max_output_tokens"), { code: "protocol" }),
  once("a response stopped by a filter", incomplete("content_filter"), { code: "refused" }),
  afterRequestRetries("429", fault(429), { code: "rate_limited", status: 429 }),
  afterRequestRetries("500", fault(500), { code: "overloaded", status: 500 }),
  afterRequestRetries("529", fault(529, { body: "not json" }), { code: "overloaded", status: 529 }),
  afterRequestRetries("a failure for load", fail("server_is_overloaded", "busy"), { code: "overloaded" }),
  afterRequestRetries("a failure for rate", fail("rate_limit_exceeded", "try again in 1.5s"), {
    code: "rate_limited",
    retryAfterMs: 1500,
  }),
  afterRequestRetries("no first byte", stall("before-headers"), { code: "limit", limit: "first-byte" }),
  afterStreamRetries("no data after the headers", stall("after-headers"), { code: "limit", limit: "idle" }),
  afterStreamRetries("no data in the middle", stall(2), { code: "limit", limit: "idle" }),
  afterStreamRetries("a cut before the first event", cut(0), { code: "stream_cut" }),
  afterStreamRetries("a cut between events", cut(2), { code: "stream_cut" }),
  afterStreamRetries("a cut within an event", cut("half"), { code: "stream_cut" }),
  afterStreamRetries("a stream that just ends", garbage(": nothing\n\n"), { code: "stream_cut" }),
  afterStreamRetries("an empty stream", garbage(""), { code: "stream_cut" }),
  afterStreamRetries("an unknown failure", fail("server_error", "oops"), { code: "stream_cut" }),
  afterStreamRetries("data that is not JSON", garbage("data: {oops\n\n"), { code: "protocol" }),
  afterStreamRetries("a page instead of events", garbage("<html>", "text/html"), { code: "protocol" }),
];

export function faults(wire: WireName): void {
  test.each(faultCases)("$title becomes fault $expected.code after $requests requests", async (faultCase) => {
    const { ask, requests } = await openHarness(
      wire,
      { replies: [faultCase.reply], repeat: "last" },
      { requestMaxRetries: 2, streamMaxRetries: 3, firstByteMs: 250, idleMs: 250 },
    );
    const { reply, progress } = await ask();
    expect(reply).toMatchObject({ kind: "fault", fault: faultCase.expected });
    expect(requests()).toHaveLength(faultCase.requests);
    expect(progress.filter(({ type }) => type === "retrying")).toHaveLength(faultCase.requests - 1);
  });

  test("an unreachable server is a network fault after retries", async () => {
    const { ask, closeServer, waits } = await openHarness(wire, []);
    await closeServer();
    expect(await faultOf(ask())).toMatchObject({ code: "network", message: expect.stringContaining("ECONNREFUSED") });
    expect(waits).toHaveLength(4);
  });

  test("a refused key is reported with the provider and how to set one", async () => {
    const { ask } = await openHarness(wire, [fault(401, { body: { error: { message: "Bad key" } } })]);
    const { message } = await faultOf(ask());
    expect(message).toMatch(
      /^Test server answered HTTP 401: Bad key\. The API key was refused\. Set one with .*AGENT_API_KEY/,
    );
  });

  test("the message of the server is quoted at limited length", async () => {
    const { ask } = await openHarness(wire, [fault(400, { body: { error: { message: `No: ${"x".repeat(5000)}` } } })]);
    const { message } = await faultOf(ask());
    expect(message).toContain("No: xxx");
    expect(message.length).toBeLessThan(600);
  });

  test("no fault contains a key, even if the server repeats it", async () => {
    const echo = { error: { message: `key ${secretKey} and tenant-secret-1 are wrong`, code: "server_error" } };
    const replies = [fault(401, { body: echo }), fault(500, { body: echo }), fail("oops", echo.error.message)];
    const { ask } = await openHarness(wire, replies, {
      headers: { "x-tenant-key": "tenant-secret-1" },
      requestMaxRetries: 0,
      streamMaxRetries: 0,
    });
    for (const _ of replies) {
      const { message } = await faultOf(ask());
      expect(message).toContain("key [REDACTED] and [REDACTED] are wrong");
    }
  });

  test("a key that is not a valid header is a fault that does not contain it", async () => {
    const { ask } = await openHarness(wire, [], { apiKey: "sk-line\nbreak" });
    const { code, message } = await faultOf(ask());
    expect(code).toBe("refused");
    expect(message).toContain(wire === "anthropic" ? "x-api-key" : "authorization");
    expect(message).not.toContain("sk-line");
  });
}
