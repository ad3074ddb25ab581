// Notifications from the end of a run to the push service of a browser, which can read nothing of them.
import { createDecipheriv, createECDH, createPublicKey, type ECDH, hkdfSync, randomBytes, verify } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { PushMessage, PushState, Run } from "@agentcli/protocol/api";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { endBuild, insertBuild } from "../../src/environments/builds/store.ts";
import { claimNodeId, describeNode } from "../../src/foundation/db/index.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { teamKey } from "../../src/foundation/vault/index.ts";
import { makeLoginLink } from "../../src/identity/sessions/index.ts";
import { enqueueDraftPushes } from "../../src/integrations/index.ts";
import { encryptMessage } from "../../src/integrations/push/encrypt.ts";
import { logIn, openBrowser, tokenIn } from "../harness/browser.ts";
import { type TestServer, testServer } from "../harness/platform.ts";

let server: TestServer;
let key: string;

beforeAll(async () => {
  server = await testServer({ roles: ["api", "runner", "scheduler"], allowPrivate: ["127.0.0.0/8"] });
  key = await server.key();
});
afterAll(() => server.close());
// Sessions of earlier tests would receive messages as well.
afterEach(() => server.platform.db.deleteFrom("push_subscriptions").execute());

const bytes = (text: string): Buffer => Buffer.from(text, "base64url");

test("a message is encrypted as the example of RFC 8291", () => {
  const pair = createECDH("prime256v1");
  pair.setPrivateKey(bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"));
  const keys = {
    p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    auth: "BTBZMqHH6r4Tts7J_aSIgg",
  };
  const text = Buffer.from("When I grow up, I want to be a watermelon");
  const message = encryptMessage(text, keys, { pair, salt: bytes("DGv6ra1nlYgDCS1FRnbzlw") });
  expect(message.toString("base64url")).toBe(
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
  );
});

interface Received {
  headers: IncomingMessage["headers"];
  body: Buffer;
}

/** A push service on this machine, which answers with these statuses (0: never), and a browser that subscribed there. */
async function openPushService(statuses: number[] = []) {
  const received: Received[] = [];
  const service = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    received.push({ headers: request.headers, body: Buffer.concat(parts) });
    const status = statuses[received.length - 1] ?? 201;
    if (status !== 0) response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void service.close());
  const pair = createECDH("prime256v1");
  const auth = randomBytes(16);
  const origin = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const subscription = {
    endpoint: `${origin}/send/one`,
    keys: { p256dh: pair.generateKeys("base64url"), auth: auth.toString("base64url") },
  };
  const read = ({ body }: Received) => JSON.parse(decrypt(body, pair, auth).toString()) as PushMessage;
  return { origin, subscription, received, read };
}

/** As a browser does. */
function decrypt(body: Buffer, pair: ECDH, auth: Buffer): Buffer {
  const salt = body.subarray(0, 16);
  const sender = body.subarray(21, 21 + body.readUInt8(20));
  const sealed = body.subarray(21 + sender.length);
  const about = Buffer.concat([Buffer.from("WebPush: info\0"), pair.getPublicKey(), sender]);
  const material = Buffer.from(hkdfSync("sha256", pair.computeSecret(sender), auth, about, 32));
  const derive = (label: string, length: number) => Buffer.from(hkdfSync("sha256", material, salt, label, length));
  const decipher = createDecipheriv(
    "aes-128-gcm",
    derive("Content-Encoding: aes128gcm\0", 16),
    derive("Content-Encoding: nonce\0", 12),
  );
  decipher.setAuthTag(sealed.subarray(-16));
  const text = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  expect(text.at(-1)).toBe(2);
  return text.subarray(0, -1);
}

/** A user in a browser, by default the administrator, whose agents those of the key are. */
async function loggedIn(email = "admin@localhost") {
  const browser = openBrowser(server.url);
  const { id } = await server.platform.db
    .selectFrom("users")
    .select("id")
    .where("email", "=", email)
    .executeTakeFirstOrThrow();
  await logIn(browser, await makeLoginLink(server.platform.db, id, server.url));
  const headers = { "x-csrf-token": tokenIn(await browser.get("/keys")), "content-type": "application/json" };
  return async (method: string, path: string, body?: unknown) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const { status, html } = await browser.send(path, { method, headers, ...json });
    return { status, body: JSON.parse(html) };
  };
}

async function endedAgent(text: string, status: Run["status"] = "FINISHED", by = key): Promise<string> {
  const { body } = await server.call(by, "POST", "/v1/agents", { prompt: { text }, name: `About ${text}` });
  const { agent, run } = body as { agent: { id: string }; run: Run };
  const read = async () => (await server.call(by, "GET", `/v1/agents/${agent.id}/runs/${run.id}`)).body as Run;
  await expect.poll(async () => (await read()).status).toBe(status);
  return agent.id;
}

test("a browser that subscribed receives a message about each ended run, encrypted and signed, until its session ends", async () => {
  const { origin, subscription, received, read } = await openPushService();
  const ask = await loggedIn();
  const { publicKey } = (await ask("GET", "/v1/me/push")).body as PushState;
  expect(await ask("PUT", "/v1/me/push", subscription)).toEqual({
    ...{ status: 200, body: { publicKey, isSubscribed: true } },
  });
  const agentId = await endedAgent("say hello");
  await expect.poll(() => received.length).toBe(1);
  const [first = expect.fail("nothing came")] = received;
  expect(read(first)).toEqual({
    ...{ title: "About say hello", body: expect.stringMatching(/^Finished/), tag: agentId, path: `/agents/${agentId}` },
  });
  expect(first.headers).toMatchObject({
    "content-encoding": "aes128gcm",
    ttl: "86400",
    topic: expect.stringMatching(/^\w{32}$/),
  });

  const [, token = "", sentKey] = /^vapid t=(\S+), k=(\S+)$/.exec(first.headers.authorization ?? "") ?? [];
  expect(sentKey).toBe(publicKey);
  const [head, claims, signature] = token.split(".");
  const point = bytes(publicKey);
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString("base64url"));
  const verifying = createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
  const signed = Buffer.from(`${head}.${claims}`);
  expect(verify("sha256", signed, { key: verifying, dsaEncoding: "ieee-p1363" }, bytes(signature ?? ""))).toBe(true);
  expect(JSON.parse(bytes(claims ?? "").toString())).toMatchObject({
    aud: origin,
    sub: expect.stringMatching(/^mailto:/),
  });

  const recorded = (await ask("GET", "/v1/audit?action=push.subscribed")).body.items as { actorName: string }[];
  expect(recorded.map(({ actorName }) => actorName)).toEqual(["admin@localhost"]);
  const { items } = (await ask("GET", "/v1/me/sessions")).body;
  const [{ id }] = items.filter(({ isCurrent }: { isCurrent: boolean }) => isCurrent);
  await ask("DELETE", `/v1/me/sessions/${id}`);
  const other = await openPushService();
  await (await loggedIn())("PUT", "/v1/me/push", other.subscription);
  await endedAgent("say more");
  await expect.poll(() => other.received.length).toBe(1);
  expect(received).toHaveLength(1);
});

test("a busy push service is asked again, and one that knows the browser no more ends the subscription", async () => {
  const { subscription, received } = await openPushService([429, 410]);
  const ask = await loggedIn();
  await ask("PUT", "/v1/me/push", subscription);
  await endedAgent("try again");
  await expect.poll(() => received.length).toBe(1);
  const { db } = server.platform;
  const waiting = () => db.selectFrom("push_messages").select(["attempts", "next_attempt_at"]).execute();
  const [row] = await waiting();
  expect(row?.attempts).toBe(1);
  expect(row?.next_attempt_at.getTime()).toBeGreaterThan(Date.now() + 30_000);
  await db
    .updateTable("push_messages")
    .set({ next_attempt_at: new Date(0) })
    .execute();
  await db
    .selectNoFrom((make) => make.fn<string>("pg_notify", [make.val("pushes"), make.val("")]).as("told"))
    .execute();
  await expect.poll(async () => (await ask("GET", "/v1/me/push")).body.isSubscribed).toBe(false);
  expect(await waiting()).toEqual([]);
});

test("services of one team that never answer do not delay the messages of another team", async () => {
  const email = "ruth@example.com";
  const other = await server.key({ team: "red", owner: { kind: "user", email } });
  for (const [text, by] of [
    ["slow", key],
    ["fast", other],
  ] as const)
    await endedAgent(text, "FINISHED", by);
  const [silent, good] = [await openPushService(Array.from({ length: 30 }, () => 0)), await openPushService()];
  expect((await (await loggedIn())("PUT", "/v1/me/push", silent.subscription)).status).toBe(200);
  expect((await (await loggedIn(email))("PUT", "/v1/me/push", good.subscription)).status).toBe(200);
  // The silent ones are due for longer.
  await sql`
    with last as (
      select distinct on (agents.user_id) session_id, runs.id as run_id, email = ${email} as is_good
      from push_subscriptions join sessions on sessions.id = session_id join users on users.id = sessions.user_id
      join agents on agents.user_id = users.id join runs on runs.agent_id = agents.id
      order by agents.user_id, runs.created_at desc
    ), due as (
      insert into push_messages (id, session_id, run_id, next_attempt_at)
      select 'push_' || gen_random_uuid(), session_id, run_id, now() - interval '1 hour' + number * interval '1 minute'
      from last, generate_series(1, 25) as number where (number = 25) = is_good
    )
    select pg_notify('pushes', '')`.execute(server.platform.db);
  await expect.poll(() => good.received.length).toBe(1);
  expect(silent.received.length).toBeLessThanOrEqual(4);
});

test("addresses of private networks and requests with a key are refused, and nothing readable is stored", async () => {
  const { subscription } = await openPushService();
  const ask = await loggedIn();
  const refused = await ask("PUT", "/v1/me/push", { ...subscription, endpoint: "https://10.0.0.1/send" });
  expect(refused).toMatchObject({ status: 400, body: { error: { code: "validation_error" } } });
  for (const method of ["GET", "DELETE"])
    expect(await server.call(key, method, "/v1/me/push")).toMatchObject({
      ...{ status: 403, body: { error: { code: "key_not_supported" } } },
    });
  await ask("PUT", "/v1/me/push", subscription);
  const rows = await server.platform.db.selectFrom("push_subscriptions").select("subscription").execute();
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) expect(row.subscription.toString("latin1")).not.toContain("/send/one");
  expect(await ask("DELETE", "/v1/me/push")).toMatchObject({ status: 200, body: { isSubscribed: false } });
});

test("a draft build that succeeded notifies those who may activate it, once, and not when it is decided already or servers are upgraded", async () => {
  const { db } = server.platform;
  const owner = { kind: "user", email: "reader@example.com" } as const;
  await server.key({ owner });
  const [admin, member] = [await openPushService(), await openPushService()];
  await (await loggedIn())("PUT", "/v1/me/push", admin.subscription);
  await (await loggedIn("reader@example.com"))("PUT", "/v1/me/push", member.subscription);
  const body = { owner: "team", name: "shop", repos: [], environmentJson: "{}" };
  const { id } = (await server.call(key, "POST", "/v1/environments", body)).body as { id: string };
  const environment = await db.selectFrom("environments").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const dataKey = await teamKey(db, server.platform.vault, environment.team_id);
  // A server without machines would end it as failed: this test is the server that executes it.
  const draft = async ({ isDecided }: { isDecided: boolean }) => {
    const request = { environment, key: dataKey, trigger: "MANUAL", draft: true, requestedBy: "user:1" } as const;
    const build = await db.transaction().execute(async (tx) => {
      const inserted = await insertBuild(tx, request);
      const claim = { started_at: new Date(), lease_epoch: 99, lease_until: new Date(Date.now() + 3_600_000) };
      const decision = isDecided ? { discarded_at: new Date() } : {};
      await tx
        .updateTable("environment_builds")
        .set({ ...claim, ...decision })
        .where("id", "=", inserted.id)
        .execute();
      return inserted;
    });
    const fence = { buildId: build.id, epoch: 99 };
    const host = { platform: server.platform, announceDraft: enqueueDraftPushes };
    const output = { status: "SUCCEEDED", output: "" } as const;
    const ended = await Promise.all([endBuild(host, fence, output), endBuild(host, fence, output)]);
    expect(ended.toSorted()).toEqual([false, true]);
    return build.id;
  };
  await draft({ isDecided: true });
  // A server of an older version does not know such messages.
  const older = await claimNodeId(server.platform.connection, silentLog);
  await describeNode(db, older.id, { roles: ["api"], version: "0.0.1", address: "http://127.0.0.1:1" });
  await draft({ isDecided: false });
  await older.release();
  const buildId = await draft({ isDecided: false });
  await expect.poll(() => admin.received.length).toBe(1);
  expect(admin.read(admin.received[0] ?? expect.fail("nothing came"))).toEqual({
    ...{ title: "shop", body: "Needs your approval: a draft build is ready to be activated", tag: buildId },
    path: `/environments/${id}/builds/${buildId}`,
  });
  await expect.poll(() => db.selectFrom("push_messages").select("build_id").execute()).toEqual([]);
  expect([admin.received.length, member.received.length]).toEqual([1, 0]);
  expect(await db.selectFrom("push_subscriptions").select("session_id").execute()).toHaveLength(2);
});
