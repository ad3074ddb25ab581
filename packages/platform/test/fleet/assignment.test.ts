// Many workers and many runs at once: over the whole log, and in the eyes of each worker, no worker has two agents.
import { openClient, type PlatformClient } from "@agentcli/testkit/platform";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestServer, testServer } from "../harness/platform.ts";
import { honest } from "./played-worker.ts";
import { openRawWorker, registration } from "./raw-worker.ts";

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ concurrentRuns: 100 });
});
afterAll(() => server.close());

interface Seen {
  worker: string;
  /** Runs that the worker was asked for. */
  runs: string[];
  /** Of several agents between the claim of one run and the end of it. */
  doubles: string[];
}

/** An honest worker that writes down which runs it serves at the same time. */
async function startWorker(pool: string, worker: string, key: string): Promise<Seen> {
  const seen: Seen = { worker, runs: [], doubles: [] };
  let current: string | null = null;
  const { link } = await openRawWorker(server.url, key, async (request, answer) => {
    const { agent, runId } = request.body as { agent: string; runId: string };
    request.stream.on("error", () => {});
    if (request.name === "agent.claim") {
      if (current !== null && current !== agent) seen.doubles.push(`${current} and ${agent}`);
      current = agent;
      seen.runs.push(runId);
    }
    if (request.name === "sync.commit" || request.name === "agent.release") current = null;
    await honest[request.name]?.(request, answer);
  });
  await link.request("register", registration({ workerId: worker, name: worker, pool }));
  return seen;
}

/** Replays the audit log: which claims of the pool's workers it has, and which were of a worker that had an agent. */
async function claimsIn(pool: string) {
  const entries = await server.platform.db.selectFrom("audit_entries").select("entry").orderBy("seq").execute();
  const holders = new Map<string, string>();
  const doubles: string[] = [];
  let claims = 0;
  for (const { entry } of entries) {
    const { action, subject, data } = JSON.parse(entry);
    if (!action.startsWith("worker_claim.") || !data.worker_id.startsWith(`${pool}-`)) continue;
    if (action === "worker_claim.created") {
      claims += 1;
      const holder = holders.get(data.worker_id);
      if (holder !== undefined) doubles.push(`${data.worker_id}: ${holder} and ${subject}`);
      holders.set(data.worker_id, subject);
    } else if (action === "worker_claim.deleted" && holders.get(data.worker_id) === subject)
      holders.delete(data.worker_id);
  }
  return { claims, doubles };
}

const create = async (client: PlatformClient, pool: string, text: string) =>
  client.waitForRun(await client.create(text, { env: { type: "pool", name: pool } }));

const counts = [{ workers: 4, runs: 12 }, ...(process.env.SWEEP === "full" ? [{ workers: 200, runs: 100 }] : [])];

test.each(counts)(
  "$workers workers and $runs runs at once: each run has one worker, and no worker two agents",
  async ({ workers, runs }) => {
    const [user, account] = [
      await server.key(),
      await server.key({ owner: { kind: "service_account", name: "pool" } }),
    ];
    const pool = `pool${workers}`;
    const all = await Promise.all(
      Array.from({ length: workers }, (_, index) => startWorker(pool, `${pool}-${index}`, account)),
    );
    const client = openClient(server.url, user);
    const ended = await Promise.all(Array.from({ length: runs }, (_, index) => create(client, pool, `run ${index}`)));
    expect(ended.map(({ status }) => status)).toEqual(ended.map(() => "FINISHED"));
    expect(await claimsIn(pool)).toEqual({ claims: runs, doubles: [] });
    expect(all.flatMap(({ doubles }) => doubles)).toEqual([]);
    const served = all.flatMap(({ runs: ids }) => [...new Set(ids)]);
    expect([served.length, new Set(served).size]).toEqual([runs, runs]);
  },
);
