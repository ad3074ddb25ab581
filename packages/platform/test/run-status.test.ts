// The status of a run, as those see it who follow its stream.
import { say } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { openLeases } from "../src/runs/index.ts";
import { openRun } from "../src/runs/records.ts";
import { serve } from "../src/serve.ts";
import type { SentFrame } from "./client.ts";
import { openRunBench } from "./run-bench.ts";

test("a reader who was there before the run began is told once that it runs, whoever takes it up", async () => {
  const { client, spine } = await openRunBench({ replies: [say("Done.")], settings: { roles: ["api"] } });
  const ids = await client.create({ prompt: { text: "go" } });
  const frames: SentFrame[] = [];
  const reading = client.follow(ids, (frame) => frames.push(frame), new AbortController().signal);
  await expect.poll(() => frames.length).toBe(1);
  const { platform } = spine;
  const dying = await openLeases(platform.db, { nodeId: "dying", leaseMs: 0 }).claim();
  if (!dying) throw new Error("nothing to claim");
  await openRun(platform, dying);
  await expect.poll(() => frames.length).toBe(2);
  const settings = { ...platform.settings, roles: ["runner" as const] };
  const runner = await serve({ ...platform, nodeId: "next", settings });
  onTestFinished(runner.stop);
  await reading;
  const told = frames.filter(({ event }) => event === "status");
  expect(told).toEqual([
    { id: undefined, event: "status", data: { runId: ids.runId, status: "CREATING" } },
    { id: expect.any(String), event: "status", data: { runId: ids.runId, status: "RUNNING" } },
  ]);
  expect(frames.at(-2)?.data).toMatchObject({ status: "FINISHED" });
  const again = await client.stream(ids, told[1]?.id);
  expect(again.filter(({ event }) => event === "status").map(({ id }) => id)).toEqual([undefined]);
  expect(again.slice(1)).toEqual(frames.slice(2));
});
