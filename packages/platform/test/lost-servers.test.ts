// Runs whose servers die: what gets on is never given up, what costs one server after another is.
import type { ThreadRecord } from "@agentcli/protocol";
import { say } from "@agentcli/testkit";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { openLeases, openSessionStore } from "../src/runs/index.ts";
import { type Claimed, mostDied } from "../src/runs/lease.ts";
import { openRunRecorder } from "../src/runs/recorder.ts";
import { openRun } from "../src/runs/records.ts";
import { serve } from "../src/serve.ts";
import type { Frame } from "../src/streams/index.ts";
import { openRunBench } from "./run-bench.ts";
import { openSpine, type Spine } from "./spine.ts";

let spine: Spine;
beforeAll(async () => {
  spine = await openSpine();
});
beforeEach(async () => void (await spine.platform.db.deleteFrom("agents").execute()));
afterAll(() => spine.close());

/** A server that has just been started: its lease outlives it. */
const life = () => openLeases(spine.platform.db, { nodeId: "one", leaseMs: 60_000 });

async function claimIn(leases: ReturnType<typeof life>): Promise<Claimed> {
  const claim = await leases.claim();
  if (!claim) throw new Error("nothing to claim");
  return claim;
}

async function driveOf(claim: Claimed) {
  const problems: unknown[] = [];
  const platform = {
    ...spine.platform,
    log: { ...spine.platform.log, error: (_event: string, error: unknown) => void problems.push(error) },
  };
  const opened = await openRun(platform, claim);
  const published: Frame[] = [];
  const hub = { publish: (_runId: string, frames: Frame[]) => void published.push(...frames) };
  const recorder = await openRunRecorder(opened, (text) => text, {
    platform,
    hub: hub as Parameters<typeof openRunRecorder>[2]["hub"],
  });
  const store = openSessionStore({
    db: platform.db,
    key: opened.key,
    agentId: claim.agentId,
    fence: opened.fence,
    recorder,
  });
  return { recorder, store, published, problems };
}

const note: ThreadRecord = { type: "noted", kind: "warning", data: { message: "here" } };
const reply: ThreadRecord = {
  type: "model.replied",
  blocks: [{ type: "message", text: "Further." }],
  model: "m",
  usage: { inputTokens: 0, cachedInputTokens: 0, cacheWriteInputTokens: 0, outputTokens: 0, reasoningOutputTokens: 0 },
};

test("servers that die with a run are counted until it gets on; notes are no progress, and letting go is no death", async () => {
  await spine.newAgent();
  expect((await claimIn(life())).diedBefore).toBe(0);
  const second = await claimIn(life());
  expect(second.diedBefore).toBe(1);
  await (await driveOf(second)).store.append(second.agentId, 0, [note]);
  const stopping = life();
  const third = await claimIn(stopping);
  expect(third.diedBefore).toBe(2);
  await stopping.release(third);
  const fourth = await claimIn(life());
  expect(fourth.diedBefore).toBe(2);
  await (await driveOf(fourth)).store.append(fourth.agentId, 1, [reply]);
  expect((await claimIn(life())).diedBefore).toBe(1);
});

test("of runs that servers died with, a server drives one at a time, until that one gets on", async () => {
  for (let run = 0; run < 3; run++) await spine.newAgent();
  for (let death = 0; death < 2; death++) {
    const leases = life();
    for (let run = 0; run < 3; run++) await claimIn(leases);
  }
  const leases = life();
  const suspect = await claimIn(leases);
  expect(await leases.claim()).toBeNull();
  const innocent = await spine.newAgent();
  expect((await claimIn(leases)).runId).toBe(innocent.runId);
  await (await driveOf(suspect)).store.append(suspect.agentId, 0, [reply]);
  const next = await claimIn(leases);
  expect(next.diedBefore).toBe(2);
  expect(await leases.claim()).toBeNull();
});

test("a run that has cost five servers ends with a sentence that readers get, and the agent can be asked again", async () => {
  const { client, spine: served } = await openRunBench({ replies: [say("Here.")], settings: { roles: ["api"] } });
  const ids = await client.create({ prompt: { text: "go" } });
  const { platform } = served;
  for (let death = 0; death < mostDied; death++) await openLeases(platform.db, { nodeId: "dying", leaseMs: 0 }).claim();
  const runner = await serve({
    ...platform,
    nodeId: "next",
    settings: { ...platform.settings, roles: ["api", "runner"] },
  });
  onTestFinished(runner.stop);
  const frames = await client.stream(ids);
  expect(frames.at(-2)?.data).toMatchObject({
    status: "ERROR",
    error: { code: "internal", message: expect.stringContaining("5 servers in a row") },
  });
  expect(await client.read(ids)).toMatchObject({ status: "ERROR", error: { code: "internal" } });
  const next = await client.followUp(ids.agentId, { prompt: { text: "again" } });
  expect((await client.stream(next)).at(-2)?.data).toMatchObject({ status: "FINISHED", text: "Here." });
});

test("a holder that lost its run shows nothing that is not stored, not even to readers of its own server", async () => {
  await spine.newAgent();
  const former = await driveOf(await claimIn(life()));
  const claim = await claimIn(life());
  former.recorder.progress({ type: "text", delta: "too late" });
  await expect.poll(() => former.problems).toMatchObject([{ name: "StaleWriter" }]);
  expect(former.published).toEqual([]);
  await expect(former.store.append(claim.agentId, 0, [reply])).rejects.toThrow("another driver");
  expect(former.published).toEqual([]);
});
