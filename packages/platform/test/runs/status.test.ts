// The status of a run in its stream.
import { replyWith } from "@agentcli/testkit";
import type { StreamFrame } from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";
import { openAgent, openRun } from "../../src/runs/execution/records.ts";
import { openLeases } from "../../src/runs/index.ts";
import { serve } from "../../src/serve.ts";
import { openRunHarness } from "./run-harness.ts";

test("a reader connected before the run starts sees RUNNING once, whichever server claims the run", async () => {
  const { client, fixture } = await openRunHarness({ replies: [replyWith("Done.")], settings: { roles: ["api"] } });
  const ids = await client.create({ prompt: { text: "go" } });
  const frames: StreamFrame[] = [];
  const reading = client.follow(ids, (frame) => frames.push(frame), new AbortController().signal);
  await expect.poll(() => frames.length).toBe(1);
  const { platform } = fixture;
  const dying = await openLeases(platform.db, { nodeId: "dying", leaseMs: 0 }).claim();
  if (!dying) throw new Error("nothing to claim");
  await openRun({ platform, hub: { publish() {} } }, dying, await openAgent(platform, dying));
  await expect.poll(() => frames.length).toBe(2);
  const settings = { ...platform.settings, roles: ["runner" as const] };
  const runner = await serve({ ...platform, nodeId: "next", settings });
  onTestFinished(runner.stop);
  await reading;
  const statuses = frames.flatMap(({ id, event, data }) => (event === "status" ? { id, event, data } : []));
  expect(statuses).toEqual([
    { id: undefined, event: "status", data: { runId: ids.runId, status: "CREATING" } },
    { id: expect.any(String), event: "status", data: { runId: ids.runId, status: "RUNNING" } },
  ]);
  expect(frames.at(-2)?.data).toMatchObject({ status: "FINISHED" });
  const again = await client.stream(ids, statuses[1]?.id);
  expect(again.filter(({ event }) => event === "status").map(({ id }) => id)).toEqual([undefined]);
  expect(again.slice(1)).toEqual(frames.slice(2));
});
