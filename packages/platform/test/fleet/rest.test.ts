// Workers and pools over HTTP, row by row, under both paths: shapes, order, refusals, who may do what, and audit entries.
import { randomUUID } from "node:crypto";
import { openClient } from "@agentcli/testkit/platform";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Answer, type TestServer, testServer } from "../harness/platform.ts";

let server: TestServer;
let keys: Record<"user" | "account" | "other" | "stranger" | "reader", string>;
let teamId: number;
let accountId: string;
beforeAll(async () => {
  // No server drives runs: what waits goes on waiting.
  server = await testServer({ roles: ["api"] });
  const account = (name: string) => ({ kind: "service_account", name }) as const;
  keys = {
    user: await server.key(),
    account: await server.key({ owner: account("controller") }),
    other: await server.key({ owner: account("other") }),
    stranger: await server.key({ team: "strangers", owner: account("controller") }),
    reader: await server.key({ owner: account("controller"), scopes: ["agents:read"] }),
  };
  const { db } = server.platform;
  const found = await db.selectFrom("service_accounts").selectAll().where("name", "=", "controller").execute();
  const own = found.find(({ team_id }) => team_id === 1) ?? expect.fail("no account");
  teamId = own.team_id;
  accountId = own.id;
});
afterAll(() => server.close());

const bases = [
  ["/v0/private-workers", "/v0/private-workers/pools"],
  ["/v1/workers", "/v1/pools"],
] as const;

const call = (method: string, path: string, body?: unknown, key = keys.account) => server.call(key, method, path, body);

/** As v0 and as v1 show a refusal. */
const problem = ({ status, body }: Answer) => {
  const { error, code, message } = body as {
    error?: { code: string; message: string } | string;
    code?: string;
    message?: string;
  };
  if (typeof error === "object") return { status, code: error.code, message: error.message };
  return { status, code, message: error ?? message };
};

interface Pool {
  poolName: string;
}
const poolsIn = ({ body }: Answer) => (body as { pools: Pool[] }).pools;

async function newPool(base: string, more: object = {}): Promise<string> {
  const poolName = `pool ${randomUUID()}`;
  expect(await call("POST", base, { scope: "team", poolName, ...more })).toMatchObject({
    status: 200,
    body: { registered: true },
  });
  return poolName;
}

async function newRequest(pool: string, more: object = {}) {
  return openClient(server.url, keys.user).create("work", { env: { type: "pool", name: pool }, ...more });
}

/** As if it was connected to a server. */
async function connectWorker(pool: string | null, id = `w-${randomUUID()}`): Promise<string> {
  const now = new Date();
  const facts = {
    ...{ team_id: teamId, id, name: id, pool, labels: "{}", root_path: "/srv/shop", version: "1.0", session: "s" },
    ...{ user_id: pool === null ? 1 : null, service_account_id: pool === null ? null : accountId },
    ...{ repo_url: "https://git.example.com/acme/shop.git", node_id: "another server" },
    ...{ connected_at: now, last_seen_at: now },
  };
  const { db } = server.platform;
  await db
    .insertInto("workers")
    .values(facts)
    .onConflict((conflict) => conflict.columns(["team_id", "id"]).doUpdateSet(facts))
    .execute();
  onTestFinished(async () => void (await db.deleteFrom("workers").where("id", "=", id).execute()));
  return id;
}

const disconnectWorker = (id: string) =>
  server.platform.db.updateTable("workers").set({ node_id: null }).where("id", "=", id).execute();

const finish = (runId: string) =>
  server.platform.db
    .updateTable("runs")
    .set({ status: "FINISHED", ended_at: new Date() })
    .where("id", "=", runId)
    .execute();

test.each(bases)("%s: pools are registered, changed, listed and deregistered", async (_, pools) => {
  const poolName = await newPool(pools, { repoOwner: "acme", repoName: "shop", workerReadyTimeoutSeconds: 30 });
  await call("POST", pools, {
    scope: "team",
    poolName,
    repoOwner: "acme",
    repoName: "shop",
    workerReadyTimeoutSeconds: 60,
  });
  await call("POST", pools, { scope: "user", poolName });
  const worker = await connectWorker(poolName);
  const listed = poolsIn(await call("GET", pools)).filter((one) => one.poolName === poolName);
  const seen = { firstSeenAtMs: expect.any(Number), lastSeenAtMs: expect.any(Number), isStale: false };
  const counts = { connectedWorkerCount: 1, inUseWorkerCount: 0 };
  const bound = { repoOwner: "acme", repoName: "shop", workerReadyTimeoutSeconds: 60 };
  expect(listed).toEqual([
    { scope: "team", ownerId: teamId, poolName, ...counts, connectedWorkerCount: 0, ...seen, ...bound },
    { scope: "user", ownerId: 0, poolName, ...counts, ...seen, workerReadyTimeoutSeconds: 0 },
  ]);
  const scoped = async (scope: string, key = keys.account) =>
    poolsIn(await call("GET", `${pools}?scope=${scope}`, undefined, key)).filter((one) => one.poolName === poolName)
      .length;
  expect([await scoped("team"), await scoped("user")]).toEqual([1, 1]);
  expect([await scoped("team", keys.other), await scoped("user", keys.other)]).toEqual([1, 0]);
  expect([await scoped("team", keys.stranger), await scoped("user", keys.stranger)]).toEqual([0, 0]);
  const query = `scope=team&pool_name=${encodeURIComponent(poolName)}`;
  expect(problem(await call("DELETE", `${pools}?${query}`))).toMatchObject({ status: 404, code: "pool_not_found" });
  const repository = "&repo_owner=acme&repo_name=shop";
  expect(problem(await call("DELETE", `${pools}?${query}${repository}`, undefined, keys.stranger)).status).toBe(404);
  expect(await call("DELETE", `${pools}?${query}${repository}`)).toMatchObject({
    status: 200,
    body: { deregistered: true },
  });
  expect((await call("GET", `/v1/workers/${worker}`)).status).toBe(200);
});

test("pools of one name that service accounts have for themselves count their own workers and runs only", async () => {
  const poolName = await newPool("/v1/pools", { scope: "user" });
  expect((await call("POST", "/v1/pools", { scope: "user", poolName }, keys.other)).status).toBe(200);
  await connectWorker(poolName);
  const counted = async (key: string) =>
    poolsIn(await call("GET", "/v1/pools?scope=user", undefined, key)).find((one) => one.poolName === poolName);
  expect(await counted(keys.account)).toMatchObject({ connectedWorkerCount: 1 });
  expect(await counted(keys.other)).toMatchObject({ connectedWorkerCount: 0 });
  const queued = async (key: string) => {
    const client = openClient(server.url, key);
    const ids = await client.create("work", { env: { type: "pool", name: poolName } });
    onTestFinished(async () => void (await finish(ids.runId)));
    const { queue } = await client.getJson<{ queue: object }>(`/v1/agents/${ids.agentId}/runs/${ids.runId}`);
    return queue;
  };
  const none = `No worker of the pool ${poolName} is connected.`;
  expect(await queued(keys.account)).toMatchObject({ position: 1, reason: expect.stringContaining("1 is in use") });
  expect(await queued(keys.other)).toEqual({ position: 1, reason: none });
});

test("a run for the pool without a name waits behind one for the pool called default", async () => {
  await newPool("/v1/pools", { poolName: "default" });
  const client = openClient(server.url, keys.account);
  const positionOf = async (env: object) => {
    const ids = await client.create("work", { env });
    onTestFinished(async () => void (await finish(ids.runId)));
    const path = `/v1/agents/${ids.agentId}/runs/${ids.runId}`;
    return (await client.getJson<{ queue: { position: number } }>(path)).queue.position;
  };
  const first = await positionOf({ type: "pool", name: "default" });
  expect(await positionOf({ type: "pool" })).toBe(first + 1);
  expect(await positionOf({ type: "pool", name: "default" })).toBe(first + 2);
});

test("a pool without a worker for a week is stale, and listed on request only", async () => {
  const poolName = await newPool("/v1/pools");
  await server.platform.db
    .updateTable("worker_pools")
    .set({ last_seen_at: sql<Date>`now() - interval '8 days'` })
    .where("name", "=", poolName)
    .execute();
  const has = async (query: string) =>
    poolsIn(await call("GET", `/v1/pools${query}`)).find((one) => one.poolName === poolName);
  expect(await has("")).toBeUndefined();
  expect(await has("?includeStale=true")).toMatchObject({ isStale: true });
});

test.each(bases)("%s: connected workers are listed, counted, filtered and paged", async (path) => {
  const poolName = await newPool("/v1/pools");
  const before = await call("GET", `${path}/summary`);
  const { teamSummary, userSummary } = before.body as Record<
    "teamSummary" | "userSummary",
    { totalConnected: number; inUse: number }
  >;
  const pooled = [await connectWorker(poolName), await connectWorker(poolName)];
  const personal = await connectWorker(null);
  const [busy = ""] = pooled;
  const { agentId } = await newRequest(poolName);
  expect((await call("POST", `${path}/claim`, { id: agentId, workerId: busy })).status).toBe(200);
  expect((await call("GET", `${path}/summary`)).body).toEqual({
    teamSummary: { totalConnected: teamSummary.totalConnected + 2, inUse: teamSummary.inUse + 1 },
    userSummary: { totalConnected: userSummary.totalConnected + 1, inUse: userSummary.inUse },
  });
  expect((await call("GET", `${path}/${busy}`)).body).toEqual({
    ...{ workerId: busy, name: busy, isInUse: true, activeBcId: agentId, pool: poolName, labels: {}, version: "1.0" },
    ...{ repoOwner: "acme", repoName: "shop", repoUrl: "https://git.example.com/acme/shop.git", teamId },
    ...{ workspaceRootPath: "/srv/shop", connectedAtMs: expect.any(Number), userId: 0, serviceAccountId: accountId },
  });
  const ids = async (query: string) => {
    const { workers } = (await call("GET", `${path}${query}`)).body as { workers: { workerId: string }[] };
    return workers.map(({ workerId }) => workerId).filter((id) => [...pooled, personal].includes(id));
  };
  expect(await ids("?status=in_use")).toEqual([busy]);
  expect((await ids("?status=idle&scope=team_pool")).sort()).toEqual([pooled[1]]);
  expect(await ids("?scope=personal")).toEqual([personal]);
  const paged: string[] = [];
  for (let token: string | undefined = ""; token !== undefined; ) {
    const { body } = await call("GET", `${path}?limit=1${token && `&pageToken=${token}`}`);
    const page = body as { workers: { workerId: string }[]; totalCount: number; nextPageToken?: string };
    paged.push(...page.workers.map(({ workerId }) => workerId));
    token = page.nextPageToken;
  }
  expect(paged.filter((id) => [...pooled, personal].includes(id))).toHaveLength(3);
  expect(new Set(paged).size).toBe(paged.length);
  expect(problem(await call("GET", `${path}/none`))).toMatchObject({ status: 404, code: "worker_not_found" });
  expect((await call("GET", `${path}/${busy}`, undefined, keys.stranger)).status).toBe(404);
});

test.each(bases)("%s: a pending request is listed, claimed once, released, and pending again", async (path) => {
  const poolName = await newPool("/v1/pools");
  const { agentId, runId } = await newRequest(poolName);
  const pending = async (query = `pool=${encodeURIComponent(poolName)}`, key = keys.account) =>
    (await call("GET", `${path}/pending-requests?${query}`, undefined, key)).body as {
      requests: { id: string }[];
      streamCursor: string;
    };
  const { requests } = await pending();
  expect(requests).toEqual([
    {
      ...{ id: agentId, userId: 1, userEmail: "admin@localhost", createdAtMs: expect.any(Number) },
      labels: [{ key: "pool", value: poolName }],
    },
  ]);
  expect((await pending(undefined, keys.stranger)).requests).toEqual([]);
  expect((await pending("repository=git.example.com/acme/none")).requests).toEqual([]);
  const claim = { id: agentId, workerId: `w-${randomUUID()}` };
  expect(problem(await call("POST", `${path}/claim`, claim, keys.stranger))).toMatchObject({
    status: 404,
    code: "pending_request_not_found",
  });
  const claimed = await Promise.all(
    ["a", "b", "c", "d"].map((letter) =>
      call("POST", `${path}/claim`, { ...claim, workerId: `${claim.workerId}${letter}` }),
    ),
  );
  expect(claimed.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  const won = claimed.find(({ status }) => status === 200)?.body as { id: string; workerId: string };
  expect(won).toEqual({ id: agentId, workerId: expect.stringContaining(claim.workerId) });
  expect((await pending()).requests).toEqual([]);
  await connectWorker(poolName, won.workerId);
  const inUse = problem(await call("POST", `${path}/claims/${agentId}/release`));
  expect(inUse).toMatchObject({ status: 400, message: expect.stringMatching(/^Worker in use: /) });
  await disconnectWorker(won.workerId);
  expect((await call("POST", `${path}/claims/${agentId}/release`, undefined, keys.stranger)).status).toBe(404);
  expect(await call("POST", `${path}/claims/${agentId}/release`)).toMatchObject({ status: 200, body: won });
  expect(problem(await call("POST", `${path}/claims/${agentId}/release`))).toMatchObject({ code: "claim_not_found" });
  expect((await pending()).requests).toMatchObject([{ id: agentId }]);
  await finish(runId);
  expect((await pending()).requests).toEqual([]);
});

test.each(bases)("%s: a claim fails with a message, once, and not while its worker is connected", async (path) => {
  const poolName = await newPool("/v1/pools");
  const { agentId, runId } = await newRequest(poolName);
  const workerId = `w-${randomUUID()}`;
  const fail = (message: unknown) => call("POST", `${path}/claims/${agentId}/fail`, { message });
  expect(problem(await fail("x"))).toMatchObject({ status: 404, code: "claim_not_found" });
  await call("POST", `${path}/claim`, { id: agentId, workerId });
  for (const message of ["", "\u0001\u0007", "x".repeat(501), 7])
    expect(problem(await fail(message))).toMatchObject({ status: 400, code: "validation_error" });
  await connectWorker(poolName, workerId);
  expect(problem(await fail("x"))).toMatchObject({
    status: 400,
    message: expect.stringMatching(/^Worker connected: /),
  });
  await disconnectWorker(workerId);
  expect(await fail("no\u0007 capacity in zone b")).toMatchObject({ status: 200, body: { id: agentId, workerId } });
  expect((await fail("again")).status).toBe(404);
  const { db } = server.platform;
  const stored = await db
    .selectFrom("worker_claims")
    .selectAll()
    .where("agent_id", "=", agentId)
    .executeTakeFirstOrThrow();
  expect(stored.failed_run_id).toBe(runId);
  expect(stored.failure?.toString("latin1")).not.toContain("capacity");
  await finish(runId);
});

test("a claim without a turn that waits is released, not failed", async () => {
  const poolName = await newPool("/v1/pools");
  const { agentId, runId } = await newRequest(poolName);
  await call("POST", "/v0/private-workers/claim", { id: agentId, workerId: `w-${randomUUID()}` });
  await finish(runId);
  const answer = await call("POST", `/v0/private-workers/claims/${agentId}/fail`, { message: "x" });
  expect(answer).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^No turn waiting: /) } });
});

test.each(bases)("%s: tokens are for the worker of a claim, and another one can be had", async (path) => {
  const poolName = await newPool("/v1/pools");
  const { agentId, runId } = await newRequest(poolName);
  const claim = { id: agentId, workerId: `w-${randomUUID()}` };
  expect((await call("POST", `${path}/tokens`, claim)).status).toBe(404);
  const shape = { ...claim, token: expect.stringMatching(/^plw_/), expiresAt: expect.any(String) };
  const first = (await call("POST", `${path}/claim`, { ...claim, sessionToken: true })).body as {
    token: string;
    expiresAt: string;
  };
  expect(first).toEqual(shape);
  const days = (Date.parse(first.expiresAt) - Date.now()) / 86_400_000;
  expect([days > 6.9, days < 7.1]).toEqual([true, true]);
  const second = (await call("POST", `${path}/tokens`, claim)).body as { token: string };
  expect(second).toEqual(shape);
  expect(second.token).not.toBe(first.token);
  for (const wrong of [
    { ...claim, workerId: "other" },
    { ...claim, id: "bc-00000000-0000-4000-8000-000000000000" },
  ])
    expect(problem(await call("POST", `${path}/tokens`, wrong))).toMatchObject({
      status: 404,
      code: "claim_not_found",
    });
  expect((await call("POST", `${path}/tokens`, claim, keys.stranger)).status).toBe(404);
  await finish(runId);
});

test("workers and pools are for keys of service accounts with the scope", async () => {
  for (const path of ["/v0/private-workers", "/v1/workers", "/v1/pools", "/v1/workers/pending-requests"])
    expect(problem(await call("GET", path, undefined, keys.user))).toMatchObject({ status: 403, code: "forbidden" });
  expect((await call("GET", "/v1/pools", undefined, keys.reader)).status).toBe(200);
  expect((await call("POST", "/v1/pools", { scope: "team", poolName: "x" }, keys.reader)).status).toBe(403);
});

test("an agent for a pool of one repository needs that repository, and a pool that is not known is refused", async () => {
  const pool = await newPool("/v1/pools", { repoOwner: "acme", repoName: "shop" });
  const create = (repos: string[], name = pool) =>
    server.call(keys.user, "POST", "/v1/agents", {
      prompt: { text: "work" },
      env: { type: "pool", name },
      repos: repos.map((url) => ({ url })),
    });
  const shop = "https://git.example.com/Acme/shop";
  expect(problem(await create([shop, `${shop}2`])).message).toBe(
    "My Machines and repo-bound pools accept one repo in repos. To start an agent with several repos, set env.name to an any-repo pool.",
  );
  expect(problem(await create([`${shop}2`])).message).toContain("is for acme/shop");
  expect(problem(await create([])).message).toContain("is for acme/shop");
  expect(problem(await create([shop], "never seen")).message).toContain('no pool "never seen"');
});

test("a sub-token acts for a user of the team, with the scopes of its key, and ends with that key", async () => {
  const account = { kind: "service_account", name: "minter" } as const;
  const parent = await server.key({ owner: account, scopes: ["agents:read", "agents:write"] });
  await server.key({ owner: { kind: "user", email: "ann@example.com" } });
  const mint = (body: unknown, key = parent) => server.call(key, "POST", "/v1/sub-tokens", body);
  for (const body of [
    {},
    { forUserEmail: "ann@example.com", forUserId: 1 },
    { forUserEmail: "none@example.com" },
    { forUserId: 9_999 },
  ])
    expect(problem(await mint(body))).toMatchObject({ status: 400, code: "validation_error" });
  expect((await mint({ forUserId: 1 }, keys.user)).status).toBe(403);
  expect((await mint({ forUserId: 1 }, keys.stranger)).status).toBe(400);
  const minted = await mint({ forUserEmail: "Ann@example.com" });
  const { accessToken, expiresAt, userId } = minted.body as { accessToken: string; expiresAt: string; userId: number };
  expect(minted.body).toEqual({ accessToken, expiresAt, userId, teamId });
  expect(Math.round((Date.parse(expiresAt) - Date.now()) / 60_000)).toBe(60);
  expect((await server.call(accessToken, "GET", "/v1/me")).body).toMatchObject({
    userEmail: "ann@example.com",
    userId,
  });
  expect((await server.call(accessToken, "GET", "/v1/agents")).status).toBe(200);
  expect((await server.call(accessToken, "GET", "/v1/repositories")).status).toBe(403);
  expect((await mint({ forUserId: userId }, accessToken)).status).toBe(403);
  await server.platform.principals.revokeKey(parent.split("_")[1] ?? "");
  await expect.poll(async () => (await server.call(accessToken, "GET", "/v1/me")).status).toBe(401);
});

test("what controllers change is in the audit log under their name", async () => {
  const poolName = await newPool("/v1/pools");
  const { agentId } = await newRequest(poolName);
  await call("POST", "/v1/workers/claim", { id: agentId, workerId: `w-${randomUUID()}`, sessionToken: true });
  await call("POST", `/v1/workers/claims/${agentId}/release`);
  const entries = await server.platform.db.selectFrom("audit_entries").select("entry").orderBy("seq").execute();
  const own = entries
    .map(({ entry }) => JSON.parse(entry))
    .filter(({ actor }) => actor === `service_account:${accountId}`)
    .map(({ action }) => action);
  const made = ["worker_pool", "worker_claim", "worker_token"].map((name) => `${name}.created`);
  expect(own).toEqual(expect.arrayContaining([...made, "worker_claim.deleted", "worker_token.deleted"]));
});
