import { StaleWriter } from "@agentcli/engine";
import type { ThreadRecord } from "@agentcli/protocol";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openLeases, openSessionStore } from "../../src/runs/index.ts";
import { type Frame, openFrameWriter, readFrames } from "../../src/runs/streams/index.ts";
import { type AgentFixture, openFixture } from "../harness/fixture.ts";

let fixture: AgentFixture;
beforeAll(async () => {
  fixture = await openFixture();
});
beforeEach(async () => void (await fixture.platform.db.deleteFrom("agents").execute()));
afterAll(() => fixture.close());

const leasesOf = (nodeId: string, leaseMs = 60_000) => openLeases(fixture.platform.db, { nodeId, leaseMs });

async function claimed(nodeId = "one", leaseMs?: number) {
  const { runId } = await fixture.newAgent();
  const leases = leasesOf(nodeId, leaseMs);
  const claim = await leases.claim();
  if (claim?.runId !== runId) throw new Error("another run was claimed");
  return { leases, claim };
}

const note = (message: string): ThreadRecord => ({ type: "noted", kind: "warning", data: { message } });

async function storeOf(claim: { runId: string; epoch: number; agentId: string }) {
  const { db, vault } = fixture.platform;
  const { data_key } = await db
    .selectFrom("agents")
    .select("data_key")
    .where("id", "=", claim.agentId)
    .executeTakeFirstOrThrow();
  const key = await vault.unwrap(data_key);
  const published: Frame[] = [];
  const frameWriter = openFrameWriter({
    threadId: claim.agentId,
    turnId: claim.runId,
    bornAt: new Date(0),
    after: 0,
    scrub: (text) => text,
    insertDeltas: async () => {},
    publish: (frames) => void published.push(...frames),
    onProblem: () => {},
  });
  return { store: openSessionStore({ db, key, agentId: claim.agentId, fence: claim, frameWriter }), published };
}

async function readAll(store: Awaited<ReturnType<typeof storeOf>>["store"], threadId: string) {
  const records = [];
  for await (const batch of store.read(threadId)) records.push(...batch);
  return records;
}

test("a driver that ends late does not give up what its server has claimed again since", async () => {
  const { leases, claim } = await claimed();
  await leases.release(claim);
  const again = await leases.claim();
  expect(again?.runId).toBe(claim.runId);
  await leases.release(claim);
  expect(await leases.renew(claim)).toBe("lost");
  expect(await leases.claim()).toBeNull();
});

test("a run is claimed once, by the first server", async () => {
  const { claim } = await claimed();
  expect(claim).toMatchObject({ epoch: 1, status: "CREATING", cancelRequested: false });
  expect(await leasesOf("two").claim()).toBeNull();
});

test("ten servers that claim at once share ten runs, each claimed once", async () => {
  const made = await Promise.all(Array.from({ length: 10 }, () => fixture.newAgent()));
  const claims = await Promise.all(Array.from({ length: 20 }, (_, node) => leasesOf(`node ${node}`).claim()));
  const ids = claims.flatMap((claim) => claim?.runId ?? []);
  expect([...ids].sort()).toEqual(made.map(({ runId }) => runId).sort());
});

test("another server claims an expired lease, and renewal by the former driver reports it", async () => {
  const { leases, claim } = await claimed("one", 0);
  const next = await leasesOf("two").claim();
  expect(next).toMatchObject({ runId: claim.runId, epoch: 2 });
  expect(await leases.renew(claim)).toBe("lost");
});

test("a restarted server claims its own runs again at once", async () => {
  const { claim } = await claimed("one");
  expect(await leasesOf("one").claim()).toMatchObject({ runId: claim.runId, epoch: 2 });
});

test("a released run can be claimed at once", async () => {
  const { leases, claim } = await claimed("one");
  await leases.release(claim);
  expect(await leasesOf("two").claim()).toMatchObject({ runId: claim.runId, epoch: 3 });
});

test("renewal reports a requested cancellation", async () => {
  const { leases, claim } = await claimed("one");
  expect(await leases.renew(claim)).toBe("held");
  await fixture.platform.db
    .updateTable("runs")
    .set({ cancel_requested_at: new Date() })
    .where("id", "=", claim.runId)
    .execute();
  expect(await leases.renew(claim)).toBe("cancel");
});

test("records are read as they were written, and are sealed in the database", async () => {
  const { claim } = await claimed();
  const { store } = await storeOf(claim);
  await store.append(claim.agentId, 0, [note("a canary"), note("two")]);
  await store.append(claim.agentId, 2, [note("three")]);
  const records = await readAll(store, claim.agentId);
  expect(records.map(({ seq, record }) => [seq, record])).toEqual([
    [1, note("a canary")],
    [2, note("two")],
    [3, note("three")],
  ]);
  const rows = await fixture.platform.db
    .selectFrom("thread_records")
    .select("record")
    .where("thread_id", "=", claim.agentId)
    .execute();
  expect(rows.some(({ record }) => record.includes("canary"))).toBe(false);
});

test("two writers at one position: the second is stale and writes nothing", async () => {
  const { claim } = await claimed();
  const { store } = await storeOf(claim);
  await store.append(claim.agentId, 0, [note("first")]);
  await expect(store.append(claim.agentId, 0, [note("second"), note("third")])).rejects.toThrow(StaleWriter);
  expect(await readAll(store, claim.agentId)).toHaveLength(1);
});

test("a paused driver that resumes too late writes nothing, at any position", async () => {
  const { claim } = await claimed("one", 0);
  const { store, published } = await storeOf(claim);
  await store.append(claim.agentId, 0, [note("before")]);
  await leasesOf("two").claim();
  await expect(store.append(claim.agentId, 1, [note("after")])).rejects.toThrow(StaleWriter);
  await expect(store.append("a new thread", 0, [note("after")])).rejects.toThrow(StaleWriter);
  expect(await readAll(store, claim.agentId)).toHaveLength(1);
  expect(published).toEqual([]);
});

test("frames appear together with their records, numbered, and in the same order for every reader", async () => {
  const { claim } = await claimed();
  const { store, published } = await storeOf(claim);
  const reply = (text: string): ThreadRecord => ({
    type: "model.replied",
    blocks: [{ type: "message", text }],
    model: "m",
    usage: {
      inputTokens: 1,
      cachedInputTokens: 0,
      cacheWriteInputTokens: 0,
      outputTokens: 1,
      reasoningOutputTokens: 0,
    },
  });
  await store.append(claim.agentId, 0, [reply("one"), reply("two")]);
  const stored = await readFrames(fixture.platform.db, fixture.platform.vault).read(claim.runId, 0, "all");
  if (typeof stored === "string") throw new Error(stored);
  expect(stored).toEqual(published);
  expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index + 1));
  expect(stored.filter(({ event }) => event === "assistant").map(({ data }) => data)).toEqual([
    '{"text":"one"}',
    '{"text":"two"}',
  ]);
});

test("threads of sub-agents have a parent, and their frames are not published", async () => {
  const { claim } = await claimed();
  const { store, published } = await storeOf(claim);
  await store.append(claim.agentId, 0, [note("parent")]);
  const created = { type: "thread.created", threadId: "child", parentId: claim.agentId } as ThreadRecord;
  await store.append("child", 0, [created]);
  const thread = await fixture.platform.db
    .selectFrom("threads")
    .selectAll()
    .where("id", "=", "child")
    .executeTakeFirst();
  expect(thread).toMatchObject({ parent_id: claim.agentId, agent_id: claim.agentId });
  expect(published).toEqual([]);
});
