// The stream of pending requests: what a controller sees, in which form, from which moment, and for how long.
import { randomUUID } from "node:crypto";
import { openClient, readStream } from "@agentcli/testkit/platform";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { assignWorkers, dropOverdueClaims } from "../../src/fleet/assign.ts";
import { openFleetForFile } from "../harness/fleet.ts";

const fleet = openFleetForFile({ roles: ["api"] });

const path = "/v0/private-workers";
const call = (method: string, rest: string, body?: unknown) =>
  fleet().server.call(fleet().account, method, `${path}${rest}`, body);

async function newPool(workerReadyTimeoutSeconds = 0): Promise<string> {
  const poolName = `pool-${randomUUID()}`;
  await call("POST", "/pools", { scope: "team", poolName, workerReadyTimeoutSeconds });
  return poolName;
}

const newRequest = (pool: string) =>
  openClient(fleet().server.url, fleet().user).create("work", { env: { type: "pool", name: pool } });

const listCursor = async (pool: string): Promise<string> =>
  ((await call("GET", `/pending-requests?pool=${pool}`)).body as { streamCursor: string }).streamCursor;

/** Everything that the stream sends, until the test has finished. */
async function follow(pool: string, cursor: string, headers: Record<string, string> = {}): Promise<() => string> {
  let text = "";
  const end = new AbortController();
  onTestFinished(() => end.abort());
  const reading = readStream(`${fleet().server.url}${path}/pending-requests/stream?pool=${pool}&cursor=${cursor}`, {
    headers: { authorization: `Bearer ${fleet().account}`, ...headers },
    onText: (more) => {
      text += more;
    },
    signal: end.signal,
  });
  reading.catch(() => {});
  await expect.poll(() => text).toContain(": connected\n\n");
  return () => text;
}

const frame = /^event: (\w+)\nid: ([\w-]+)\ndata: (.*)$/;
const framesIn = (text: string) =>
  text
    .split("\n\n")
    .filter((block) => block !== "" && !block.startsWith(":"))
    .map((block) => {
      const [, event = "", id = "", data = "{}"] = frame.exec(block) ?? expect.fail(block);
      return { event, id, data: JSON.parse(data) };
    })
    .filter(({ event }) => event !== "heartbeat");
const eventsIn = (text: string) => framesIn(text).map(({ event, data }) => `${event} ${data.id}`);

const setWorker = (id: string, node: string | null) =>
  fleet()
    .server.platform.db.updateTable("workers")
    .set({ node_id: node, connected_at: sql<Date>`clock_timestamp()`, last_seen_at: sql<Date>`clock_timestamp()` })
    .where("id", "=", id)
    .execute();

const finish = (runId: string) =>
  fleet()
    .server.platform.db.updateTable("runs")
    .set({ status: "FINISHED", ended_at: new Date() })
    .where("id", "=", runId)
    .execute();

test("requests are sent as they come, are claimed and expire, and a reader goes on where it was", async () => {
  const pool = await newPool();
  const listed = await newRequest(pool);
  const cursor = await listCursor(pool);
  const text = await follow(pool, cursor);
  expect(text().startsWith(": connected\n\n")).toBe(true);
  const [first, second] = [await newRequest(pool), await newRequest(pool)];
  await expect.poll(() => eventsIn(text())).toEqual([`created ${first.agentId}`, `created ${second.agentId}`]);
  expect(framesIn(text())[0]?.data).toMatchObject({ labels: [{ key: "pool", value: pool }], userId: 1 });
  await call("POST", "/claim", { id: first.agentId, workerId: `w-${randomUUID()}` });
  await expect.poll(() => eventsIn(text())).toContain(`claimed ${first.agentId}`);
  const claimedAt = framesIn(text()).at(-1)?.id ?? "";
  await finish(listed.runId);
  await expect.poll(() => eventsIn(text())).toContain(`expired ${listed.agentId}`);
  const third = await newRequest(pool);
  // Last-Event-ID wins over the cursor, after which the first two were made.
  const again = await follow(pool, cursor, { "last-event-id": claimedAt });
  await expect.poll(() => eventsIn(again())).toContain(`created ${third.agentId}`);
  expect(eventsIn(again())).not.toContain(`created ${first.agentId}`);
  const fromList = await follow(pool, cursor);
  await expect.poll(() => eventsIn(fromList())).toEqual([`created ${second.agentId}`, `created ${third.agentId}`]);
});

test("a claimed worker that sleeps is asked back within the window, under its id; after it, the request is free again", async () => {
  const pool = await newPool(120);
  const first = await newRequest(pool);
  const workerId = `w-${randomUUID()}`;
  await call("POST", "/claim", { id: first.agentId, workerId });
  await setWorker(workerId, "another server");
  await finish(first.runId);
  await setWorker(workerId, null);
  const text = await follow(pool, await listCursor(pool));
  const followUp = await openClient(fleet().server.url, fleet().user).followUp(first.agentId, "go on");
  await expect.poll(() => eventsIn(text())).toEqual([`claimed_offline ${first.agentId}`]);
  const { claimedWorkerId, wakeTimeoutMs } = framesIn(text())[0]?.data ?? {};
  expect(claimedWorkerId).toBe(workerId);
  expect(wakeTimeoutMs).toBeGreaterThan(60_000);
  const { requests } = (await call("GET", `/pending-requests?pool=${pool}`)).body as { requests: object[] };
  expect(requests).toMatchObject([{ id: first.agentId, claimedWorkerId: workerId }]);
  expect((await call("POST", "/tokens", { id: first.agentId, workerId })).status).toBe(200);
  // No other worker gets it meanwhile.
  await dropOverdueClaims(fleet().server.platform.db);
  await assignWorkers(fleet().server.platform.db);
  await setWorker(workerId, "another server");
  await expect.poll(() => eventsIn(text())).toEqual([`claimed_offline ${first.agentId}`, `claimed ${first.agentId}`]);
  await setWorker(workerId, null);
  await expect.poll(() => eventsIn(text()).length).toBe(3);
  const { db } = fleet().server.platform;
  const past = sql<Date>`now() - interval '121 seconds'`;
  await db.updateTable("workers").set({ last_seen_at: past }).where("id", "=", workerId).execute();
  await db.updateTable("worker_claims").set({ claimed_at: past }).where("worker_id", "=", workerId).execute();
  await db.updateTable("runs").set({ created_at: past }).where("id", "=", followUp.runId).execute();
  await dropOverdueClaims(db);
  await expect.poll(() => eventsIn(text()).at(-1)).toBe(`created ${first.agentId}`);
});

test("a cursor ends five minutes after its list, and no other text is one", async () => {
  const pool = await newPool();
  const cursor = await listCursor(pool);
  const [issued = "", position = ""] = Buffer.from(cursor, "base64url").toString().split(".");
  const older = (minutes: number) =>
    Buffer.from(`${Number(issued) - minutes * 60_000}.${position}`).toString("base64url");
  const answer = await call("GET", `/pending-requests/stream?cursor=${older(5.1)}`);
  expect(answer).toMatchObject({ status: 410, body: { code: "cursor_expired" } });
  const v1 = await fleet().server.call(
    fleet().account,
    "GET",
    `/v1/workers/pending-requests/stream?cursor=${older(5.1)}`,
  );
  expect(v1).toMatchObject({ status: 410, body: { error: { code: "cursor_expired" } } });
  await follow(pool, older(4.5));
  for (const wrong of ["", "?cursor=x", "?cursor=MTIz"])
    expect((await call("GET", `/pending-requests/stream${wrong}`)).status).toBe(400);
});

test("a service account has four streams at most, and a closed one makes room", async () => {
  const pool = await newPool();
  const cursor = await listCursor(pool);
  const ends: AbortController[] = [];
  const open = async (): Promise<number> => {
    const end = new AbortController();
    const url = `${fleet().server.url}${path}/pending-requests/stream?pool=${pool}&cursor=${cursor}`;
    const { status } = await fetch(url, {
      headers: { authorization: `Bearer ${fleet().account}` },
      signal: end.signal,
    });
    if (status === 200) ends.push(end);
    return status;
  };
  onTestFinished(() => ends.forEach((end) => void end.abort()));
  await expect.poll(async () => (await open()) === 429).toBe(true);
  expect(ends).toHaveLength(4);
  ends.pop()?.abort();
  await expect.poll(open).toBe(200);
});
