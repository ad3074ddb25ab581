// Contract: an abort ends a request at once.
import { fault, replyWith, stall } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { openHarness, type WireName } from "../harness.ts";

export function interruptions(wire: WireName): void {
  const interrupted = { kind: "fault", fault: { code: "interrupted" } };

  test("an abort in the middle of a response ends it at once", async () => {
    const { ask, requests } = await openHarness(wire, [{ messages: ["a very long answer"], deltas: 10, stall: 6 }]);
    const stop = new AbortController();
    const { reply } = await ask({}, { signal: stop.signal, onProgress: () => stop.abort() });
    expect(reply).toMatchObject(interrupted);
    expect(requests()).toHaveLength(1);
  });

  test("an abort before the response begins ends the request at once", async () => {
    const { ask, requests } = await openHarness(wire, [stall("before-headers")]);
    const stop = new AbortController();
    const asking = ask({}, { signal: stop.signal });
    await expect.poll(() => requests().length).toBe(1);
    stop.abort();
    expect((await asking).reply).toMatchObject(interrupted);
  });

  test("an abort before a retry ends the delay at once", async () => {
    const { ask, requests } = await openHarness(wire, [fault(500), replyWith("never asked for")], { delay: undefined });
    const stop = new AbortController();
    const onProgress = () => stop.abort();
    expect((await ask({}, { signal: stop.signal, onProgress })).reply).toMatchObject(interrupted);
    expect(requests()).toHaveLength(1);
  });

  test("an aborted signal sends no request", async () => {
    const { ask, requests } = await openHarness(wire, [replyWith("hi")]);
    expect((await ask({}, { signal: AbortSignal.abort() })).reply).toMatchObject(interrupted);
    expect(requests()).toHaveLength(0);
  });
}
