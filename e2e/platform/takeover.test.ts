// Servers that share runs: whichever of them is killed, paused or cut off, the others finish its runs, each step once.
// With one data directory for all of them, and with one each and a bucket in common.
import { eventually, isFullSweep, sampleOf } from "@agentcli/testkit";
import {
  type Cluster,
  type ClusterNode,
  type NodeFailure,
  openCluster,
  openPlatform,
  type PlatformClient,
  type PlatformHarness,
  type RunIds,
  type StreamFrame,
} from "@agentcli/testkit/platform";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectExactlyOnce, openGates, stepsScript, storedFrames, waitAtGate } from "./steps.ts";
import { readWithReconnects } from "./stream-reader.ts";

const failures: NodeFailure[] = ["killed", "paused", "partitioned"];

const topologies = [
  { servers: "two servers with one data directory", data: "shared", names: ["first", "second"], each: 4 },
  {
    servers: "three servers with a data directory each",
    data: "separate",
    names: ["first", "second", "third"],
    each: 4,
  },
] as const;

describe.each(topologies)("$servers", ({ data, names, each }) => {
  let harness: PlatformHarness;
  let cluster: Cluster;
  beforeAll(async () => {
    harness = await openPlatform({
      replies: { replies: stepsScript((step) => (step === 2 ? waitAtGate : "true")), repeat: "always" },
      env: { PLATFORM_LEASE_SECONDS: "2" },
    });
    cluster = await openCluster(harness, { names, data });
    await Promise.all(cluster.nodes.map((node) => node.start()));
  });
  afterAll(async () => {
    await cluster.close();
    await harness.close();
  });

  const all = failures.flatMap((failure) => names.map((name) => ({ failure, name })));

  test.each(sampleOf(all, { every: each }))(
    "the $name is $failure in the middle of its runs, and the others finish them",
    async (chosen) => {
      const { failure } = chosen;
      const victim = cluster.nodes.find(({ name }) => name === chosen.name) as ClusterNode;
      const [witness] = cluster.nodes.filter((node) => node !== victim) as [ClusterNode];
      const { runs, lost } = await createDriven(victim, witness.client);
      const readers = runs.map((ids) => readWithReconnects(witness.client, ids));
      victim.fail(failure);
      const epochs = () => readLeases(lost).then((rows) => rows.map(({ lease_epoch }) => lease_epoch));
      await openGatesUntil(runs, async () => (await epochs()).some((epoch) => epoch > 1));
      // It comes back while the others go on with what it had begun.
      await victim.recover(failure);
      const frames = await readAll(runs, readers);
      for (const [index, ids] of runs.entries()) await expectExactlyOnce(harness.database, ids, frames[index] ?? []);
      expect(new Set((await readLeases(runs)).map(({ status }) => status))).toEqual(new Set(["FINISHED"]));
      await expect.poll(async () => (await victim.client.get("/v1/me").catch(() => null))?.status).toBe(200);
      for (const [index, ids] of runs.entries())
        expect(await storedFrames(harness.database, ids)).toHaveLength(frames[index]?.length ?? 0);
    },
  );

  test("a stopped server releases its runs, and another one continues them without waiting", async () => {
    const [stopped, ...others] = cluster.nodes as [ClusterNode, ...ClusterNode[]];
    await Promise.all(others.map((node) => node.server().stop()));
    const runs = await createRuns(stopped.client, 3);
    await expect.poll(async () => (await readLeases(runs)).filter(({ status }) => status === "RUNNING").length).toBe(3);
    await stopped.server().stop();
    expect((await readLeases(runs)).map(({ status, lease_owner }) => [status, lease_owner])).toEqual(
      runs.map(() => ["RUNNING", null]),
    );
    const [next] = others as [ClusterNode];
    await next.start();
    const frames = await readAll(
      runs,
      runs.map((ids) => readWithReconnects(next.client, ids)),
    );
    for (const [index, ids] of runs.entries()) await expectExactlyOnce(harness.database, ids, frames[index] ?? []);
  });

  /** Runs whose files come to another server meanwhile wait there too. */
  const openGatesUntil = (runs: RunIds[], isEnough: () => Promise<boolean>) =>
    eventually(async () => {
      await openGates(harness.database, [...new Set(cluster.nodes.map((node) => node.data))], runs);
      return isEnough();
    });

  async function readAll(runs: RunIds[], readers: Promise<StreamFrame[]>[]): Promise<StreamFrame[][]> {
    let isOver = false;
    const frames = Promise.all(readers).finally(() => {
      isOver = true;
    });
    await Promise.all([frames, openGatesUntil(runs, async () => isOver)]);
    return frames;
  }

  /** Runs that all wait at their gates, further ones until this server drives some of them: those are `lost`. */
  async function createDriven(
    { id }: ClusterNode,
    client: PlatformClient,
  ): Promise<{ runs: RunIds[]; lost: RunIds[] }> {
    const runs = await createRuns(client, isFullSweep ? 20 : 8);
    for (;;) {
      await expect.poll(async () => (await readBegun(runs)).size).toBe(runs.length);
      const own = (await readLeases(runs)).filter(({ lease_owner }) => lease_owner === id());
      const lost = runs.filter(({ runId }) => own.some((lease) => lease.id === runId));
      if (lost.length > 0) return { runs, lost };
      runs.push(...(await createRuns(client, 2)));
    }
  }

  const readLeases = (runs: RunIds[]) =>
    harness.database.query<LeaseRow>(
      "select id, lease_owner, lease_epoch::int, status from runs where id = any($1) order by created_at, id",
      [runs.map(({ runId }) => runId)],
    );

  const readBegun = async (runs: RunIds[]): Promise<Set<string>> => {
    // One call has ended, and another one has begun.
    const query =
      "select run_id from frames where run_id = any($1) and event = 'tool_call' group by run_id having count(*) >= 3";
    const ids = runs.map(({ runId }) => runId);
    return new Set((await harness.database.query<{ run_id: string }>(query, [ids])).map(({ run_id }) => run_id));
  };
});

interface LeaseRow {
  id: string;
  lease_owner: string | null;
  lease_epoch: number;
  status: string;
}

const createRuns = (client: PlatformClient, count: number): Promise<RunIds[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => client.create({ prompt: { text: `run ${index}` } })));
