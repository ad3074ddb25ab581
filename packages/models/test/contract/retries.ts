// Contract: when a request is retried, and after which delay.
import { cut, fault, type Reply, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { faultOf, openHarness, type WireName } from "../harness.ts";

export function retries(wire: WireName): void {
  test("a request is retried with doubling delays until it succeeds", async () => {
    const { ask, requests, waits } = await openHarness(wire, [
      fault(503),
      fault(502),
      fault(500),
      replyWith("at last"),
    ]);
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

  test("a reply after a cut stream has nothing of the failed attempt", async () => {
    const { ask } = await openHarness(wire, [{ messages: ["abandoned"], deltas: 8, cutAfter: 5 }, replyWith("kept")]);
    const { reply } = await ask();
    expect(reply).toMatchObject({ kind: "replied", blocks: [{ type: "message", text: "kept" }] });
    expect(reply).toHaveProperty("blocks.length", 1);
  });

  test("requests and streams have separate retry limits", async () => {
    const script = [fault(500), cut(2), fault(500), cut(2), replyWith("hi")];
    const { ask, waits } = await openHarness(wire, script, { requestMaxRetries: 2, streamMaxRetries: 2 });
    expect((await ask()).reply.kind).toBe("replied");
    expect(waits).toEqual([200, 200, 400, 400]);
  });

  test("jitter changes a delay by at most a tenth", async () => {
    for (const [random, waitMs] of [
      [0, 180],
      [0.999, 220],
    ] as const) {
      const { ask, waits } = await openHarness(wire, [fault(500), replyWith("hi")], { random: () => random });
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
  ])("the delay that the server asks for $title is used", async ({ headers, waitMs }) => {
    const { ask, waits } = await openHarness(wire, [fault(429, { headers }), replyWith("hi")]);
    expect((await ask()).reply.kind).toBe("replied");
    expect(waits).toEqual([waitMs]);
  });

  test("no retry if the server asks for more than a minute", async () => {
    const { ask, waits } = await openHarness(wire, [fault(429, { headers: { "retry-after": "61" } })]);
    expect(await faultOf(ask())).toMatchObject({ code: "rate_limited", retryAfterMs: 61_000 });
    expect(waits).toEqual([]);
  });

  test("the first-byte timeout ends when the response begins", async () => {
    const script: Reply[] = [{ messages: ["thought over"], stall: 1, ms: 600 }];
    const { ask, requests } = await openHarness(wire, script, { firstByteMs: 200, idleMs: 20_000 });
    expect((await ask()).reply.kind).toBe("replied");
    expect(requests()).toHaveLength(1);
  });
}
