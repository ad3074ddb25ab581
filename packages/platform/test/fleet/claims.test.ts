// Claims of workers where two things happen at once, or something fails in between: who has the worker afterwards.
import { randomUUID } from "node:crypto";
import { openClient } from "@agentcli/testkit/platform";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { assignWorkers, dropOverdueClaims } from "../../src/fleet/assign.ts";
import type { ConnectedWorker } from "../../src/fleet/gateway.ts";
import { maxPools } from "../../src/fleet/pools.ts";
import { releaseAgents } from "../../src/fleet/release.ts";
import { disconnectWorker, registerWorker, reportSeen } from "../../src/fleet/store.ts";
import { openWorkers } from "../../src/fleet/use.ts";
import { openLeases } from "../../src/runs/leases/lease.ts";
import { type TestServer, testServer } from "../harness/platform.ts";

let server: TestServer;
let keys: Record<"user" | "account" | "other", string>;
beforeAll(async () => {
  // No server drives runs or assigns workers: the tests do.
  server = await testServer({ roles: ["api"] });
  const account = (name: string) => ({ kind: "service_account", name }) as const;
  keys = {
    user: await server.key(),
    account: await server.key({ owner: account("controller") }),
    other: await server.key({ owner: account("other") }),
  };
});
afterAll(() => server.close());

const nodeId = "this server";
const call = (method: string, path: string, body?: unknown, key = keys.account) => server.call(key, method, path, body);
const principalOf = async (key: string) =>
  (await server.platform.principals.find(key.split("_")[1] ?? "")) ?? expect.fail("no principal");

async function newPool(scope: "team" | "user" = "team", key = keys.account): Promise<string> {
  const poolName = `pool-${randomUUID()}`;
  expect((await call("POST", "/v1/pools", { scope, poolName }, key)).status).toBe(200);
  return poolName;
}

const newRequest = (pool: string, key = keys.user) =>
  openClient(server.url, key).create("work", { env: { type: "pool", name: pool } });

interface Connecting {
  key?: string;
  repoUrl?: string;
}

/** Returns the end of this connection. */
async function connectWorker(pool: string, workerId: string, { key = keys.account, ...more }: Connecting = {}) {
  const { db } = server.platform;
  const registered = await registerWorker(
    db,
    { principal: await principalOf(key), nodeId, credential: "key" },
    {
      ...{ linkVersion: 1, version: "1.0", workerId, session: "s", name: workerId, pool, labels: {} },
      ...{ workspaceRootPath: "/", ...more },
    },
  );
  if (registered.kind !== "registered") throw new Error(registered.message);
  const { connectedAt } = registered;
  const teamId = 1;
  onTestFinished(() => disconnectWorker(db, { teamId, workerId, connectedAt }, "process"));
  return () => disconnectWorker(db, { teamId, workerId, connectedAt }, "process");
}

const claimOf = (agentId: string) =>
  server.platform.db.selectFrom("worker_claims").selectAll().where("agent_id", "=", agentId).executeTakeFirst();
const setRun = (runId: string, values: { status: "RUNNING" | "ERROR"; ended_at?: Date }) =>
  server.platform.db.updateTable("runs").set(values).where("id", "=", runId).execute();
const isOnline = async (workerId: string) => (await call("GET", `/v1/workers/${workerId}`)).status === 200;

test("a worker that connects again while its former connection ends stays connected", async () => {
  const pool = await newPool();
  const endFormer = await connectWorker(pool, pool);
  await connectWorker(pool, pool);
  await endFormer();
  expect(await isOnline(pool)).toBe(true);
});

test("a worker whose end could not be written is disconnected by the next report of its server, others are not", async () => {
  const [gone, here] = [await newPool(), await newPool()];
  for (const id of [gone, here]) await connectWorker(id, id);
  const { db } = server.platform;
  await sql`update workers set connected_at = now() - interval '5 minutes' where id in (${gone}, ${here})`.execute(db);
  await reportSeen(db, nodeId, [{ teamId: 1, workerId: here }]);
  expect([await isOnline(gone), await isOnline(here)]).toEqual([false, true]);
});

test("a claim that failed frees its worker for the next agent once its run has ended", async () => {
  const pool = await newPool();
  const [first, second] = [await newRequest(pool), await newRequest(pool)];
  await call("POST", "/v1/workers/claim", { id: first.agentId, workerId: pool });
  expect((await call("POST", `/v1/workers/claims/${first.agentId}/fail`, { message: "no machine" })).status).toBe(200);
  const claim = { id: second.agentId, workerId: pool };
  expect((await call("POST", "/v1/workers/claim", claim)).status).toBe(409);
  await setRun(first.runId, { status: "ERROR", ended_at: new Date() });
  expect((await call("POST", "/v1/workers/claim", claim)).status).toBe(200);
  expect(await claimOf(first.agentId)).toBeUndefined();
});

test("an idle worker is assigned to the next agent when the run of a failed claim has ended", async () => {
  const pool = await newPool();
  const [first, second] = [await newRequest(pool), await newRequest(pool)];
  await call("POST", "/v1/workers/claim", { id: first.agentId, workerId: pool });
  await call("POST", `/v1/workers/claims/${first.agentId}/fail`, { message: "no machine" });
  await connectWorker(pool, pool);
  await assignWorkers(server.platform.db);
  expect(await claimOf(second.agentId)).toBeUndefined();
  await setRun(first.runId, { status: "ERROR", ended_at: new Date() });
  await assignWorkers(server.platform.db);
  expect(await claimOf(second.agentId)).toMatchObject({ worker_id: pool });
});

test("a turn that has begun keeps its claim, also while its worker is away", async () => {
  const pool = await newPool();
  const { agentId, runId } = await newRequest(pool);
  const disconnect = await connectWorker(pool, pool);
  await assignWorkers(server.platform.db);
  await setRun(runId, { status: "RUNNING" });
  await disconnect();
  const released = await call("POST", `/v1/workers/claims/${agentId}/release`);
  expect(released).toMatchObject({ status: 400, body: { error: { code: "worker_in_use" } } });
  const { db } = server.platform;
  await sql`update workers set last_seen_at = now() - interval '1 hour' where id = ${pool}`.execute(db);
  await sql`update worker_claims set claimed_at = now() - interval '2 hours' where agent_id = ${agentId}`.execute(db);
  await sql`update runs set created_at = now() - interval '2 hours' where id = ${runId}`.execute(db);
  await dropOverdueClaims(db);
  expect(await claimOf(agentId)).toMatchObject({ worker_id: pool });
});

test("an agent that a worker gets while released ones are looked up is not released", async () => {
  const pool = await newPool();
  const { agentId } = await newRequest(pool);
  const released: unknown[] = [];
  const gone = "bc-00000000-0000-4000-8000-000000000000";
  const served = new Map(["bc-old", "bc-again"].map((name) => [name, { agentId: gone, runId: "run-1" }]));
  const link = {
    request: async (_: string, body: object) => {
      released.push(body);
      throw new Error("not asked further");
    },
    closed: new Promise<void>(() => {}),
    close() {},
  };
  const worker: ConnectedWorker = {
    workerId: pool,
    teamId: 1,
    connectedAt: "",
    link,
    isAllowed: async () => true,
    receives: {},
    served,
  };
  const looked = releaseAgents(server.platform.db, { list: () => [worker] });
  served.set("bc-new", { agentId, runId: "run-2" });
  served.set("bc-again", { agentId: gone, runId: "run-2" });
  await looked;
  // The worker itself knows that the later run has claimed it.
  expect(released).toEqual([
    { agent: "bc-old", runId: "run-1" },
    { agent: "bc-again", runId: "run-1" },
  ]);
  expect([...served.keys()]).toEqual(["bc-again", "bc-new"]);
});

test("a claim and its token are made together or not at all", async () => {
  const pool = await newPool();
  const { agentId } = await newRequest(pool);
  const { db } = server.platform;
  await sql`create function refuse_token() returns trigger language plpgsql as $$ begin raise 'no token'; end $$`.execute(
    db,
  );
  await sql`create trigger refuse_token before insert on worker_tokens execute function refuse_token()`.execute(db);
  const body = { id: agentId, workerId: pool, sessionToken: true };
  const failed = await call("POST", "/v1/workers/claim", body);
  await sql`drop function refuse_token cascade`.execute(db);
  expect(failed.status).toBe(500);
  expect(await claimOf(agentId)).toBeUndefined();
  expect(await call("POST", "/v1/workers/claim", body)).toMatchObject({
    status: 200,
    body: { token: expect.any(String) },
  });
});

test("a worker that refuses a second agent is given back, and the run waits for the next one", async () => {
  const pool = await newPool();
  const { agentId, runId } = await newRequest(pool);
  await connectWorker(pool, pool);
  await assignWorkers(server.platform.db);
  expect(await claimOf(agentId)).toBeDefined();
  const refuse = async () => {
    throw Object.assign(new Error("This worker is for one agent alone, and has had another."), {
      name: "LinkError",
      code: "already_used",
    });
  };
  const { use, yields } = workersWith(refuse);
  await expect(use({ agentId, runId })).rejects.toThrow("for one agent alone");
  expect([yields(), await claimOf(agentId)]).toEqual([1, undefined]);
});

test("a worker whose token is not valid any more is given back before it is asked anything", async () => {
  const pool = await newPool();
  const { agentId, runId } = await newRequest(pool);
  await connectWorker(pool, pool);
  await assignWorkers(server.platform.db);
  const { use, yields, requests } = workersWith(async () => ({}), { isAllowed: async () => false });
  await expect(use({ agentId, runId })).rejects.toThrow("not connected");
  expect([yields(), requests(), await claimOf(agentId)]).toEqual([1, [], undefined]);
});

test("a run whose worker has just gone waits for it, and does not fail", async () => {
  const pool = await newPool();
  const { agentId, runId } = await newRequest(pool);
  await connectWorker(pool, pool);
  await assignWorkers(server.platform.db);
  const { use, yields } = workersWith(async () => ({}), null);
  await expect(use({ agentId, runId })).rejects.toThrow("not connected");
  expect([yields(), await claimOf(agentId)]).toEqual([1, expect.objectContaining({ worker_id: pool })]);
  await openClient(server.url, keys.user).post(`/v1/agents/${agentId}/runs/${runId}/cancel`);
  await expect(use({ agentId, runId })).rejects.toThrow("not connected");
  expect(yields()).toBe(1);
});

test("a run that no worker took in time is ended by any server; one with a worker is not", async () => {
  const pool = await newPool();
  const [waiting, claimed] = [await newRequest(pool), await newRequest(pool)];
  await call("POST", "/v1/workers/claim", { id: claimed.agentId, workerId: pool });
  const { db } = server.platform;
  // Those of other tests.
  await db
    .updateTable("runs")
    .set({ status: "FINISHED" })
    .where("agent_id", "not in", [waiting.agentId, claimed.agentId])
    .execute();
  const claimedBy = (workerWaitSeconds: number) => openLeases(db, { nodeId: "any", leaseMs: 1, workerWaitSeconds });
  for (const { runId } of [waiting, claimed])
    await sql`update runs set created_at = now() - interval '2 hours' where id = ${runId}`.execute(db);
  expect(await claimedBy(7_300).claim()).toBeNull();
  expect(await claimedBy(3_600).claim()).toMatchObject({ runId: waiting.runId });
  const { use, yields } = workersWith(async () => ({}), null, 3_600);
  await expect(use(waiting)).rejects.toMatchObject({ code: "worker_wait_expired" });
  expect(yields()).toBe(0);
  await db.deleteFrom("runs").where("id", "=", waiting.runId).execute();
});

test("a pool of one service account is for its own agents, workers and controllers alone", async () => {
  const own = await newPool("user");
  const create = (key: string) =>
    server.call(key, "POST", "/v1/agents", { prompt: { text: "x" }, env: { type: "pool", name: own } });
  for (const key of [keys.user, keys.other]) expect((await create(key)).status).toBe(400);
  const { agentId } = await newRequest(own, keys.account);
  const pending = async (key: string) => {
    const { body } = await call("GET", `/v1/workers/pending-requests?pool=${own}`, undefined, key);
    return (body as { requests: { id: string }[] }).requests.map(({ id }) => id);
  };
  expect([await pending(keys.account), await pending(keys.other)]).toEqual([[agentId], []]);
  const claim = { id: agentId, workerId: randomUUID() };
  expect((await call("POST", "/v1/workers/claim", claim, keys.other)).status).toBe(404);
  // Serves the pool of the team that has the same name.
  await connectWorker(own, `foreign-${own}`, { key: keys.other });
  await assignWorkers(server.platform.db);
  expect(await claimOf(agentId)).toBeUndefined();
  await connectWorker(own, `own-${own}`);
  await assignWorkers(server.platform.db);
  expect(await claimOf(agentId)).toMatchObject({ worker_id: `own-${own}` });
  for (const [path, body] of [
    [`claims/${agentId}/release`, undefined],
    ["tokens", { id: agentId, workerId: `own-${own}` }],
  ] as const)
    expect((await call("POST", `/v1/workers/${path}`, body, keys.other)).status).toBe(404);
});

test("a worker in a checkout of one repository gets no agent of another, except from a pool for any repository", async () => {
  const [bound, open] = [`pool-${randomUUID()}`, await newPool()];
  for (const repoName of ["shop", "docs"])
    await call("POST", "/v1/pools", { scope: "team", poolName: bound, repoOwner: "acme", repoName });
  const client = openClient(server.url, keys.user);
  const create = (name: string) =>
    client.create("work", { env: { type: "pool", name }, repos: [{ url: "https://git.example.com/acme/shop.git" }] });
  const [waiting, free] = [await create(bound), await create(open)];
  for (const pool of [bound, open])
    await connectWorker(pool, `docs-${pool}`, { repoUrl: "https://git.example.com/acme/docs" });
  await assignWorkers(server.platform.db);
  expect(await claimOf(waiting.agentId)).toBeUndefined();
  expect(await claimOf(free.agentId)).toMatchObject({ worker_id: `docs-${open}` });
  expect((await client.read(waiting)).queue).toEqual({
    position: 1,
    reason: `No worker of the pool ${bound} is for git.example.com/acme/shop: each is in a checkout of another repository.`,
  });
  await connectWorker(bound, `shop-${bound}`, { repoUrl: "git@git.example.com:Acme/shop.git" });
  await assignWorkers(server.platform.db);
  expect(await claimOf(waiting.agentId)).toMatchObject({ worker_id: `shop-${bound}` });
});

test("a user can connect 200 workers and a team 1,000; one that connects again counts once", async () => {
  const { db } = server.platform;
  const account = { kind: "service_account", name: "controller" } as const;
  const [own, pool] = [await server.key({ team: "full" }), await server.key({ team: "full", owner: account })];
  const { teamId, ...user } = await principalOf(own);
  const userId = "userId" in user ? user.userId : null;
  const connect = async (key: string, workerId: string, more: object = {}) => {
    const registrant = { principal: await principalOf(key), nodeId, credential: "key" } as const;
    const request = { linkVersion: 1, version: "1", workerId, session: "s", name: workerId, labels: {}, ...more };
    return registerWorker(db, registrant, { ...request, workspaceRootPath: "/" });
  };
  const fill = (from: number, to: number, owner: number | null) =>
    sql`insert into workers (team_id, id, user_id, name, labels, root_path, version, session, node_id, connected_at, last_seen_at)
      select ${teamId}, 'w' || i, ${owner}, 'w', '{}', '/', '1', 's', ${nodeId}, now(), now()
      from generate_series(${from}::integer, ${to}::integer) i`.execute(db);
  await fill(1, 200, userId);
  expect(await connect(own, "w201")).toMatchObject({
    kind: "refused",
    message: expect.stringContaining("200 workers"),
  });
  expect(await connect(own, "w7")).toMatchObject({ kind: "registered" });
  expect(await connect(pool, "p1", { pool: "fast" })).toMatchObject({ kind: "registered" });
  await fill(201, 999, null);
  const refused = { kind: "refused", message: "The team has 1000 workers already. Stop one first." };
  expect(await connect(pool, "p2", { pool: "fast" })).toEqual(refused);
  await db.deleteFrom("workers").where("team_id", "=", teamId).execute();
});

test("a team has a thousand pools at most, and known ones can still be changed and served", async () => {
  const stranger = await server.key({ team: "many pools", owner: { kind: "service_account", name: "controller" } });
  const register = (poolName: string) => call("POST", "/v1/pools", { scope: "team", poolName }, stranger);
  expect((await register("first")).status).toBe(200);
  const { teamId } = await principalOf(stranger);
  await sql`
    insert into worker_pools (team_id, name, is_registered)
    select ${teamId}::integer, 'pool ' || number, true from generate_series(2, ${maxPools}::integer) as number
  `.execute(server.platform.db);
  expect(await register("another")).toMatchObject({ status: 409, body: { error: { code: "pool_limit_reached" } } });
  expect((await register("first")).status).toBe(200);
  await expect(connectWorker("unknown", randomUUID(), { key: stranger })).rejects.toThrow(
    "The team has 1000 pools already",
  );
});

/** Workers of a gateway that has one connection, or none, whatever worker is asked for. */
function workersWith(
  answer: (name: string) => Promise<object>,
  connection: Partial<ConnectedWorker> | null = {},
  waitSeconds = 86_400,
) {
  const asked: string[] = [];
  let yielded = 0;
  const link = {
    request: async (name: string) => {
      asked.push(name);
      return (await answer(name)) as never;
    },
    closed: new Promise<void>(() => {}),
    close() {},
  };
  const worker = {
    workerId: "",
    teamId: 1,
    connectedAt: "",
    link,
    isAllowed: async () => true,
    receives: {},
    served: new Map(),
  };
  const find = () => (connection === null ? undefined : { ...worker, ...connection });
  const { db, settings, objects } = server.platform;
  const gateway = { find, list: () => [], accept: () => new Promise<never>(() => {}), close() {} };
  const workers = openWorkers({
    db,
    gateway,
    store: objects.store,
    syncDirectory: settings.dataDirectory,
    waitSeconds,
  });
  const limits = { memoryBytes: null, processes: null, fileBytes: null, temporaryBytes: null, diskBytes: null };
  return {
    yields: () => yielded,
    requests: () => asked,
    use: ({ agentId, runId }: { agentId: string; runId: string }) =>
      workers.use({
        ...{ agentId, runId, name: agentId, directory: "", root: "", writable: [], variables: {}, limits },
        isResumed: false,
        findClonable: async () => [],
        newId: randomUUID,
        openFailure: () => "",
        onOpened() {},
        async yieldRun() {
          yielded += 1;
        },
      }),
  };
}
