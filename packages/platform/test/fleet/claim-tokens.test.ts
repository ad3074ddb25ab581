// Tokens of claims: each connects one worker to one pool for one claim. Everything else that is tried with one is refused.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { openClient } from "@agentcli/testkit/platform";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { openFleetForFile } from "../harness/fleet.ts";
import { connect, openRawWorker, registration } from "./raw-worker.ts";

const fleet = openFleetForFile();

interface Claimed {
  id: string;
  runId: string;
  workerId: string;
  pool: string;
  token: string;
}

/** A request that waits, claimed for a worker that has not connected yet. */
async function claim(key = fleet().account): Promise<Claimed> {
  const pool = `pool-${randomUUID()}`;
  await fleet().server.call(key, "POST", "/v1/pools", { scope: "team", poolName: pool });
  const { agentId: id, runId } = await openClient(fleet().server.url, fleet().user).create("work", {
    env: { type: "pool", name: pool },
  });
  const workerId = `w-${randomUUID()}`;
  const { body } = await fleet().server.call(key, "POST", "/v1/workers/claim", { id, workerId, sessionToken: true });
  return { id, runId, workerId, pool, token: (body as { token: string }).token };
}

const register = async ({ workerId, pool, token }: Claimed, more: object = {}) => {
  const worker = await openRawWorker(fleet().server.url, token);
  return { ...worker, reply: await worker.link.request("register", registration({ workerId, pool, ...more })) };
};

/** What is tried, and how the platform refuses it: at the connection, or at the registration. */
const attempts: Record<string, { attempt(claimed: Claimed): Promise<unknown>; refusal: RegExp }> = {
  "a token with another secret": {
    attempt: (claimed) =>
      register({ ...claimed, token: claimed.token.replace(/.$/, (last) => (last === "0" ? "1" : "0")) }),
    refusal: /401 Invalid worker token/,
  },
  "a token with another id": {
    attempt: (claimed) => register({ ...claimed, token: claimed.token.replace(/_.{12}_/, "_000000000000_") }),
    refusal: /401 Invalid worker token/,
  },
  "a token that is cut off": {
    attempt: (claimed) => register({ ...claimed, token: claimed.token.slice(0, -1) }),
    refusal: /401 /,
  },
  "a token that has expired": {
    async attempt(claimed) {
      const past = sql<Date>`now() - interval '1 second'`;
      await fleet()
        .server.platform.db.updateTable("worker_tokens")
        .set({ expires_at: past })
        .where("agent_id", "=", claimed.id)
        .execute();
      await register(claimed);
    },
    refusal: /401 The worker token has expired/,
  },
  "a token of a claim that was released": {
    async attempt(claimed) {
      expect(
        (await fleet().server.call(fleet().account, "POST", `/v1/workers/claims/${claimed.id}/release`)).status,
      ).toBe(200);
      await register(claimed);
    },
    refusal: /401 Invalid worker token/,
  },
  "a token of a claim that has failed": {
    async attempt(claimed) {
      await fleet().server.call(fleet().account, "POST", `/v1/workers/claims/${claimed.id}/fail`, {
        message: "no machine",
      });
      await register(claimed);
    },
    refusal: /401 Invalid worker token/,
  },
  "a token of a claim that another worker has now": {
    async attempt(claimed) {
      await fleet().server.call(fleet().account, "POST", `/v1/workers/claims/${claimed.id}/release`);
      const again = { id: claimed.id, workerId: `w-${randomUUID()}` };
      expect((await fleet().server.call(fleet().account, "POST", "/v1/workers/claim", again)).status).toBe(200);
      await register(claimed);
    },
    refusal: /401 Invalid worker token/,
  },
  "a token whose key was revoked": {
    async attempt() {
      const key = await fleet().server.key({ owner: { kind: "service_account", name: "controller" } });
      const claimed = await claim(key);
      await fleet().server.platform.principals.revokeKey(key.split("_")[1] ?? "");
      await expect.poll(async () => (await fleet().server.call(key, "GET", "/v1/me")).status).toBe(401);
      await register(claimed);
    },
    refusal: /401 The key that this worker token was made with is not valid/,
  },
  "a token of a live claim that another process replays": {
    async attempt(claimed) {
      await register(claimed);
      await register(claimed, { session: "another" });
    },
    refusal: /is connected already/,
  },
  "a token for another worker": {
    attempt: (claimed) => register(claimed, { workerId: `w-${randomUUID()}` }),
    refusal: /The token is for the worker w-/,
  },
  "a token for another pool": {
    attempt: (claimed) => register(claimed, { pool: "another" }),
    refusal: /The token is for the pool pool-/,
  },
  "a token for a personal machine": {
    attempt: (claimed) => register(claimed, { pool: undefined }),
    refusal: /A personal machine needs a key of a user/,
  },
};

test.each(Object.entries(attempts))("%s is refused", async (_, { attempt, refusal }) => {
  await expect(attempt(await claim())).rejects.toThrow(refusal);
});

test("a token connects its worker, again after the connection was lost, and does not open the API", async () => {
  const claimed = await claim();
  const first = await register(claimed);
  expect(first.reply.reply).toMatchObject({ workerId: claimed.workerId });
  const { status } = await fleet().server.call(fleet().account, "GET", `/v1/workers/${claimed.workerId}`);
  expect(status).toBe(200);
  first.socket.terminate();
  const second = await register(claimed);
  expect(second.reply.reply).toMatchObject({ workerId: claimed.workerId });
  for (const path of [
    "/v1/me",
    "/v1/agents",
    "/v1/workers",
    "/v1/workers/pending-requests",
    `/v1/agents/${claimed.id}`,
  ])
    expect((await fleet().server.call(claimed.token, "GET", path)).status).toBe(401);
});

test("a replayed token does not displace the worker, which may come back itself", async () => {
  const claimed = await claim();
  const first = await register(claimed);
  await register(claimed, { session: "another" }).catch(() => {});
  expect(first.socket.readyState).toBe(first.socket.OPEN);
  const replaced = once(first.socket, "close");
  expect((await register(claimed)).reply.reply).toMatchObject({ workerId: claimed.workerId });
  await replaced;
});

test("a worker is disconnected when its claim is released, and the token is of no use again", async () => {
  const claimed = await claim();
  const { socket } = await register(claimed);
  const closed = once(socket, "close");
  const { db } = fleet().server.platform;
  await db.deleteFrom("worker_claims").where("agent_id", "=", claimed.id).execute();
  await closed;
  expect(await connect(fleet().server.url, claimed.token)).toMatchObject({ kind: "refused", status: 401 });
});

test("a worker of another team cannot take the id of a claimed one, nor see its request", async () => {
  const claimed = await claim();
  const strangers = await fleet().server.key({ team: "strangers", owner: { kind: "service_account", name: "theirs" } });
  const theirs = await openRawWorker(fleet().server.url, strangers);
  await theirs.link.request("register", registration({ workerId: claimed.workerId, pool: claimed.pool }));
  const requests = await fleet().server.call(strangers, "GET", "/v1/workers/pending-requests");
  expect(requests.body).toMatchObject({ requests: [] });
  const { db } = fleet().server.platform;
  const rows = await db
    .selectFrom("workers")
    .select(["team_id", "node_id"])
    .where("id", "=", claimed.workerId)
    .execute();
  expect(rows.map(({ node_id }) => node_id !== null).sort()).toEqual([false, true]);
  expect((await register(claimed)).reply.reply).toMatchObject({ workerId: claimed.workerId });
});
