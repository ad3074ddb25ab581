// A worker that is lost in the middle of a command: its run fails after its time, and names what is known of the cause.
import { randomUUID } from "node:crypto";
import { openClient } from "@agentcli/testkit/platform";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { lossOf } from "../../src/fleet/loss.ts";
import { openFleetForFile } from "../harness/fleet.ts";
import { honest, serving } from "./played-worker.ts";
import { openRawWorker, type RawWorker, registration } from "./raw-worker.ts";

const fleet = openFleetForFile();

const report = async ({ link }: RawWorker, state: string) =>
  void (await link.request("health", { state })).stream.destroy();

const isDisconnected = async (registered: object) => {
  const { workerId } = registered as { workerId: string };
  const row = fleet().server.platform.db.selectFrom("workers").select("node_id").where("id", "=", workerId);
  await expect.poll(async () => (await row.executeTakeFirstOrThrow()).node_id).toBeNull();
};

/** Since then the worker is away, and its run waits. */
async function passAnHour({ agentId, runId }: { agentId: string; runId: string }): Promise<void> {
  const { db } = fleet().server.platform;
  const earlier = sql`now() - interval '1 hour'`;
  await sql`update runs set created_at = ${earlier} where id = ${runId}`.execute(db);
  await sql`update worker_claims set claimed_at = ${earlier} where agent_id = ${agentId}`.execute(db);
  await sql`
    update workers set last_seen_at = ${earlier}
    where id = (select worker_id from worker_claims where agent_id = ${agentId})
  `.execute(db);
}

const losses: Record<string, { lose(worker: RawWorker, registered: object): Promise<void>; cause: RegExp }> = {
  "whose process ends": {
    lose: async ({ socket }) => socket.terminate(),
    cause: /its process has ended/,
  },
  "whose machine was almost out of memory": {
    async lose(worker) {
      await report(worker, "memory");
      worker.socket.terminate();
    },
    cause: /almost out of memory/,
  },
  "whose machine was too busy": {
    async lose(worker) {
      await report(worker, "starved");
      worker.socket.terminate();
    },
    cause: /so busy that the worker hardly ran/,
  },
  "that had recovered from both": {
    async lose(worker) {
      for (const state of ["memory", "starved", "well"]) await report(worker, state);
      worker.socket.terminate();
    },
    cause: /its process has ended/,
  },
  "that comes back in a version that does not fit": {
    async lose({ socket }, registered) {
      socket.terminate();
      await isDisconnected(registered);
      const { link } = await openRawWorker(fleet().server.url, fleet().account);
      await expect(link.request("register", { ...registered, linkVersion: 99 })).rejects.toThrow(
        "Upgrade the platform",
      );
    },
    cause: /its version does not fit/,
  },
};

test.each(Object.entries(losses))("a run on a worker %s fails with that cause", async (_, { lose, cause }) => {
  const pool = `pool-${randomUUID()}`;
  await fleet().server.call(fleet().account, "POST", "/v1/pools", {
    scope: "team",
    poolName: pool,
    workerReadyTimeoutSeconds: 600,
  });
  let begun = () => {};
  const hasBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const never = serving(({ operation }) => (operation === "exec" ? begun() : {}));
  const worker = await openRawWorker(fleet().server.url, fleet().account, async (request, answer) => {
    request.stream.on("error", () => {});
    await (request.name === "sandbox.open" ? never : honest[request.name])?.(request, answer);
  });
  const registered = registration({ workerId: pool, name: pool, pool });
  await worker.link.request("register", registered);
  const client = openClient(fleet().server.url, fleet().user);
  const ids = await client.create("run cat notes.txt", { env: { type: "pool", name: pool } });
  await hasBegun;
  await lose(worker, registered);
  await isDisconnected(registered);
  await expect.poll(async () => (await client.read(ids)).queue?.reason).toMatch(cause);
  await passAnHour(ids);
  const run = await client.waitForRun(ids);
  expect(run).toMatchObject({ status: "ERROR", error: { code: "worker_lost", message: expect.stringMatching(cause) } });
});

test("silence means the network, unless the worker has reported something else", () => {
  expect(lossOf({ health: "well", isSilent: true })).toBe("network");
  expect(lossOf({ health: "memory", isSilent: true })).toBe("memory");
  expect(lossOf({ health: "well", isSilent: false })).toBe("process");
});
