// Runs whose servers crash: a run that makes progress is never abandoned, a run that crashes one server after another is.
import type { ThreadRecord } from "@agentcli/protocol";
import { replyWith } from "@agentcli/testkit";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { openRunFrameWriter } from "../../src/runs/execution/frame-writer.ts";
import { openAgent, openRun } from "../../src/runs/execution/records.ts";
import { openLeases, openSessionStore } from "../../src/runs/index.ts";
import { type ClaimedRun, maxClaimsWithoutProgress } from "../../src/runs/leases/lease.ts";
import type { Frame } from "../../src/runs/streams/index.ts";
import { serve } from "../../src/serve.ts";
import { type AgentFixture, openFixture } from "../harness/fixture.ts";
import { openRunHarness } from "./run-harness.ts";

let fixture: AgentFixture;
beforeAll(async () => {
  fixture = await openFixture();
});
beforeEach(async () => void (await fixture.platform.db.deleteFrom("agents").execute()));
afterAll(() => fixture.close());

/** A server that has just been started; its lease outlives it. */
const life = () => openLeases(fixture.platform.db, { nodeId: "one", leaseMs: 60_000 });

async function claimIn(leases: ReturnType<typeof life>): Promise<ClaimedRun> {
  const claim = await leases.claim();
  if (!claim) throw new Error("nothing to claim");
  return claim;
}

async function driveOf(claim: ClaimedRun) {
  const problems: unknown[] = [];
  const platform = {
    ...fixture.platform,
    log: { ...fixture.platform.log, error: (_event: string, error: unknown) => void problems.push(error) },
  };
  const opened = await openRun({ platform, hub: { publish() {} } }, claim, await openAgent(platform, claim));
  const published: Frame[] = [];
  const hub = { publish: (_runId: string, frames: Frame[]) => void published.push(...frames) };
  const frameWriter = openRunFrameWriter(opened, (text) => text, {
    platform,
    hub: hub as Parameters<typeof openRunFrameWriter>[2]["hub"],
  });
  const store = openSessionStore({
    db: platform.db,
    key: opened.key,
    agentId: claim.agentId,
    fence: opened.fence,
    frameWriter,
  });
  return { frameWriter, store, published, problems };
}

const note: ThreadRecord = { type: "noted", kind: "warning", data: { message: "here" } };
const reply: ThreadRecord = {
  type: "model.replied",
  blocks: [{ type: "message", text: "Further." }],
  model: "m",
  usage: { inputTokens: 0, cachedInputTokens: 0, cacheWriteInputTokens: 0, outputTokens: 0, reasoningOutputTokens: 0 },
};

test("crashed drivers are counted until the run makes progress; notes are not progress, and a release is not a crash", async () => {
  await fixture.newAgent();
  expect((await claimIn(life())).claimsWithoutProgress).toBe(0);
  const second = await claimIn(life());
  expect(second.claimsWithoutProgress).toBe(1);
  await (await driveOf(second)).store.append(second.agentId, 0, [note]);
  const stopping = life();
  const third = await claimIn(stopping);
  expect(third.claimsWithoutProgress).toBe(2);
  await stopping.release(third);
  const fourth = await claimIn(life());
  expect(fourth.claimsWithoutProgress).toBe(2);
  await (await driveOf(fourth)).store.append(fourth.agentId, 1, [reply]);
  expect((await claimIn(life())).claimsWithoutProgress).toBe(1);
});

test("a server drives one suspect run at a time, until that run makes progress", async () => {
  for (let run = 0; run < 3; run++) await fixture.newAgent();
  for (let death = 0; death < 2; death++) {
    const leases = life();
    for (let run = 0; run < 3; run++) await claimIn(leases);
  }
  const leases = life();
  const suspect = await claimIn(leases);
  expect(await leases.claim()).toBeNull();
  const innocent = await fixture.newAgent();
  expect((await claimIn(leases)).runId).toBe(innocent.runId);
  await (await driveOf(suspect)).store.append(suspect.agentId, 0, [reply]);
  const next = await claimIn(leases);
  expect(next.claimsWithoutProgress).toBe(2);
  expect(await leases.claim()).toBeNull();
});

test("a run that crashed five servers ends with a message in its stream, and the agent accepts a follow-up", async () => {
  const { client, fixture: served } = await openRunHarness({
    replies: [replyWith("Here.")],
    settings: { roles: ["api"] },
  });
  const ids = await client.create({ prompt: { text: "go" } });
  const { platform } = served;
  for (let death = 0; death < maxClaimsWithoutProgress; death++)
    await openLeases(platform.db, { nodeId: "dying", leaseMs: 0 }).claim();
  const runner = await serve({
    ...platform,
    nodeId: "next",
    settings: { ...platform.settings, roles: ["api", "runner"] },
  });
  onTestFinished(runner.stop);
  const frames = await client.stream(ids);
  expect(frames.at(-2)?.data).toMatchObject({
    status: "ERROR",
    error: { code: "internal", message: expect.stringContaining("5 times in a row") },
  });
  expect(await client.read(ids)).toMatchObject({ status: "ERROR", error: { code: "internal" } });
  const next = await client.followUp(ids.agentId, { prompt: { text: "again" } });
  expect((await client.stream(next)).at(-2)?.data).toMatchObject({ status: "FINISHED", text: "Here." });
});

test("a driver that lost its run publishes only stored frames, even to readers on its own server", async () => {
  await fixture.newAgent();
  const former = await driveOf(await claimIn(life()));
  const claim = await claimIn(life());
  former.frameWriter.progress({ type: "text", delta: "too late" });
  await expect.poll(() => former.problems).toMatchObject([{ name: "StaleWriter" }]);
  expect(former.published).toEqual([]);
  await expect(former.store.append(claim.agentId, 0, [reply])).rejects.toThrow("another driver");
  expect(former.published).toEqual([]);
});
