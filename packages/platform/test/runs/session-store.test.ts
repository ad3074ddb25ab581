import { sessionStoreContract } from "@agentcli/testkit/contracts";
import { afterAll, beforeAll } from "vitest";
import { openLeases, openSessionStore } from "../../src/runs/index.ts";
import { type AgentFixture, openFixture } from "../harness/fixture.ts";

let fixture: AgentFixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

sessionStoreContract("the threads of an agent in the database", async () => {
  await fixture.platform.db.deleteFrom("agents").execute();
  await fixture.newAgent();
  const claim = await openLeases(fixture.platform.db, { nodeId: "one", leaseMs: 60_000 }).claim();
  if (!claim) throw new Error("the run was not claimed");
  return {
    store: await storeOf(claim, claim.epoch),
    threadId: claim.agentId,
    otherThreadId: `${claim.agentId}-sub`,
    openReader: () => storeOf(claim, claim.epoch),
    // An earlier driver of the run.
    openRival: () => storeOf(claim, claim.epoch - 1),
  };
});

async function storeOf({ agentId, runId }: { agentId: string; runId: string }, epoch: number) {
  const { db, vault } = fixture.platform;
  const { data_key: wrapped } = await db
    .selectFrom("agents")
    .select("data_key")
    .where("id", "=", agentId)
    .executeTakeFirstOrThrow();
  const key = await vault.unwrap(wrapped);
  return openSessionStore({ db, key, agentId, fence: { runId, epoch }, frameWriter: silentFrameWriter });
}

/** Frames for readers of the run are not part of the contract. */
const silentFrameWriter: Parameters<typeof openSessionStore>[0]["frameWriter"] = {
  record: (_threadId, _stored, insert) => insert([]),
  recall() {},
  recallOutput() {},
  progress() {},
  conclude: (_groups, insert) => insert([]),
};
