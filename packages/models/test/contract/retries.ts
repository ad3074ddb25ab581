// Contract: when a request is sent again, and how long that waits.
import { cut, fault, type Reply, say } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { faultOf, openBench, type WireName } from "../harness.ts";

export function retries(wire: WireName): void {
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

  test("the limit for the first byte ends when the answer begins", async () => {
    const script: Reply[] = [{ messages: ["thought over"], stall: 1, ms: 600 }];
    const { ask, requests } = await openBench(wire, script, { firstByteMs: 200, idleMs: 20_000 });
    expect((await ask()).reply.kind).toBe("replied");
    expect(requests()).toHaveLength(1);
  });
}
