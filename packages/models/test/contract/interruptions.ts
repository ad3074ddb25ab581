// Contract: an abort ends whatever is going on, at once.
import { fault, say, stall } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { openBench, type WireName } from "../harness.ts";

export function interruptions(wire: WireName): void {
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
