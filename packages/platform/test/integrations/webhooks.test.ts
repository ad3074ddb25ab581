// Webhooks from the end of a run to the receiver, with various receivers and a fake clock.
import { createHmac, randomUUID } from "node:crypto";
import type { Run, WebhookDelivery } from "@agentcli/protocol/api";
import { eventually } from "@agentcli/testkit";
import { respondStatus, startWebhookReceiver, type WebhookReceiver } from "@agentcli/testkit/platform";
import { verify } from "@octokit/webhooks-methods";
import fc from "fast-check";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { type NetworkPolicy, openNetworkPolicy } from "../../src/foundation/network/index.ts";
import { attemptDelivery, checkReceiver, startDeliveries } from "../../src/integrations/webhooks/index.ts";
import { attemptsAtMs, nextAttemptAt } from "../../src/integrations/webhooks/schedule.ts";
import { startJobs } from "../../src/operations/jobs/index.ts";
import { type TestServer, testServer } from "../harness/platform.ts";
import { noRateLimits } from "../harness/settings.ts";

let server: TestServer;
let key: string;
let receiver: WebhookReceiver;
const secret = "a secret of thirty-two characters";
const allowPrivate = ["127.0.0.0/8"];

beforeAll(async () => {
  // Without the scheduler: entries stay in the outbox until a test takes them out.
  server = await testServer({ roles: ["api", "runner"], allowPrivate });
  key = await server.key();
  await (await startJobs(server.platform, { nothing: async () => {} })).stop();
});
afterAll(() => server.close());
beforeEach(async () => {
  receiver = await startWebhookReceiver();
});
afterEach(() => receiver.close());

const call = (method: string, path: string, body?: unknown) => server.call(key, method, path, body);

/** An agent whose first run has ended. */
async function endedAgent(webhook: object = { url: receiver.url, secret }, prompt = "say hello") {
  const created = await call("POST", "/v1/agents", { prompt: { text: prompt }, webhook });
  expect(created).toMatchObject({ status: 200 });
  const { agent, run } = created.body as { agent: { id: string }; run: Run };
  const ended = await endOf(agent.id, run.id);
  return { agentId: agent.id, run: ended };
}

const endOf = (agentId: string, runId: string) =>
  eventually(async () => {
    const run = (await call("GET", `/v1/agents/${agentId}/runs/${runId}`)).body as Run;
    expect(["FINISHED", "ERROR", "CANCELLED"]).toContain(run.status);
    return run;
  });

async function deliveries(agentId: string, query = ""): Promise<WebhookDelivery[]> {
  const { body } = await call("GET", `/v1/agents/${agentId}/webhooks/deliveries${query}`);
  return (body as { items: WebhookDelivery[] }).items;
}

async function onlyDelivery(agentId: string): Promise<WebhookDelivery> {
  const [delivery, ...others] = await deliveries(agentId);
  if (!delivery || others.length > 0) throw new Error("there is not one delivery");
  return delivery;
}

/** A fake clock, and manual attempts of one delivery. */
function attempts(agentId: string, { timeoutMs = 5_000, policy = openNetworkPolicy({ allowPrivate }) } = {}) {
  const clock = { now: new Date() };
  const { platform } = server;
  const host = { platform, policy, publicUrl: () => "https://platform.example", now: () => clock.now, timeoutMs };
  return {
    clock,
    /** Attempts the delivery when it is due; null if no attempt is due any more. */
    async makeNext(): Promise<WebhookDelivery | null> {
      const { id, nextAttemptAt: at, attempts: made } = await onlyDelivery(agentId);
      if (at === undefined) return null;
      clock.now = new Date(at);
      await attemptDelivery(host, { deliveryId: id, attempt: made.length + 1 }, new AbortController().signal);
      return onlyDelivery(agentId);
    },
  };
}

test("the end of a run is delivered with its headers and a valid signature", async () => {
  const { agentId, run } = await endedAgent();
  const { id } = await onlyDelivery(agentId);
  expect(await attempts(agentId).makeNext()).toMatchObject({ status: "DELIVERED", event: "run.statusChange" });
  const [message] = await receiver.waitFor(1);
  expect(message).toMatchObject({
    method: "POST",
    path: "/hook",
    headers: {
      "content-type": "application/json",
      "user-agent": "Platform-Agent-Webhook/1.0",
      "x-webhook-id": id,
      "x-webhook-event": "run.statusChange",
    },
  });
  const signature = String(message?.headers["x-webhook-signature"]);
  expect(await verify(secret, message?.body ?? "", signature)).toBe(true);
  expect(await verify(secret, `${message?.body} `, signature)).toBe(false);
  expect(JSON.parse(message?.body ?? "")).toEqual({
    event: "run.statusChange",
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z$/),
    id: agentId,
    agentId,
    runId: run.id,
    status: "FINISHED",
    target: { url: `https://platform.example/agents/${agentId}` },
    summary: run.result,
  });
});

test.each([
  ["whsec_c2l4dGVlbiBieXRlcyBvciBtb3Jl", Buffer.from("sixteen bytes or more")],
  [secret, Buffer.from(secret)],
])("with the secret %s it is also signed according to Standard Webhooks", async (own, signingKey) => {
  const { agentId } = await endedAgent({ url: receiver.url, secret: own });
  const { makeNext, clock } = attempts(agentId);
  await makeNext();
  const [message] = await receiver.waitFor(1);
  const { "x-webhook-id": id, ...headers } = message?.headers ?? {};
  const timestamp = String(Math.floor(clock.now.getTime() / 1_000));
  const signed = `${id}.${timestamp}.${message?.body}`;
  expect(headers).toMatchObject({
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${createHmac("sha256", signingKey).update(signed).digest("base64")}`,
  });
});

test("a receiver that responds 410 gets no further deliveries, until one is redelivered", async () => {
  const { agentId } = await endedAgent();
  receiver.respondWith(respondStatus(410));
  const gone = await attempts(agentId).makeNext();
  expect(gone).toMatchObject({ status: "DEAD", attempts: [{ outcome: "refused", responseStatus: 410 }] });
  const followUp = async () => {
    const { body } = await call("POST", `/v1/agents/${agentId}/runs`, { prompt: { text: "say hello" } });
    await endOf(agentId, (body as { run: Run }).run.id);
    return (await deliveries(agentId))[0];
  };
  expect(await followUp()).toMatchObject({ status: "DEAD", attempts: [] });
  receiver.respondWith(respondStatus(200));
  await call("POST", `/v1/agents/${agentId}/webhooks/deliveries/${gone?.id}/redeliver`);
  const policy = openNetworkPolicy({ allowPrivate });
  const host = { platform: server.platform, policy, publicUrl: () => "", now: () => new Date(), timeoutMs: 5_000 };
  await attemptDelivery(host, { deliveryId: gone?.id ?? "", attempt: 2 }, new AbortController().signal);
  expect(await followUp()).toMatchObject({ status: "WAITING", attempts: [] });
});

test("without a secret there is no signature, and without a webhook no delivery", async () => {
  const { agentId } = await endedAgent({ url: receiver.url });
  await attempts(agentId).makeNext();
  expect((await receiver.waitFor(1))[0]?.headers).not.toHaveProperty("x-webhook-signature");
  const created = await call("POST", "/v1/agents", { prompt: { text: "say hello" } });
  const { agent, run } = created.body as { agent: { id: string }; run: Run };
  await endOf(agent.id, run.id);
  expect(await deliveries(agent.id)).toEqual([]);
});

test("neither address, secret nor message is readable in the database", async () => {
  const { agentId } = await endedAgent({ url: `${receiver.url}?token=sesame`, secret });
  await attempts(agentId).makeNext();
  const rows = await sql<{ row: string }>`
    select to_jsonb(webhooks)::text || to_jsonb(webhook_deliveries)::text || encode(url || secret || body, 'escape') as row
    from webhooks join webhook_deliveries using (agent_id) where agent_id = ${agentId}
  `.execute(server.platform.db);
  expect(rows.rows).toHaveLength(1);
  for (const hidden of ["sesame", secret, "FINISHED", "run.statusChange"])
    expect(rows.rows[0]?.row).not.toContain(hidden);
});

test("a delivery that always fails is retried on schedule with the same id and bytes, then becomes a dead letter", async () => {
  receiver.respondWith(respondStatus(500));
  const { agentId } = await endedAgent();
  const { makeNext, clock } = attempts(agentId);
  const times: number[] = [];
  for (let delivery = await makeNext(); delivery; delivery = await makeNext()) {
    times.push(clock.now.getTime());
    if (delivery.nextAttemptAt) expect(await jobsOf(delivery.id)).toEqual([delivery.nextAttemptAt]);
  }
  expect(times.map((at) => at - (times[0] ?? 0))).toEqual(attemptsAtMs);
  expect(attemptsAtMs.map((ms) => ms / 1000)).toEqual([0, 10, 60, 600, 3600, 21_600, 86_400]);
  expect(receiver.received).toHaveLength(7);
  expect(new Set(receiver.received.map(({ headers }) => headers["x-webhook-id"])).size).toBe(1);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  const [dead] = await deliveries(agentId, "?status=DEAD");
  expect(dead?.attempts).toHaveLength(7);
  expect(dead?.attempts[6]).toMatchObject({ outcome: "refused", responseStatus: 500 });

  receiver.respondWith(respondStatus(204));
  const path = `/v1/agents/${agentId}/webhooks/deliveries/${dead?.id}/redeliver`;
  expect(await call("POST", path)).toMatchObject({ status: 200, body: { id: dead?.id, status: "WAITING" } });
  expect(await makeNext()).toMatchObject({ id: dead?.id, status: "DELIVERED" });
  expect(receiver.received[7]?.headers["x-webhook-id"]).toBe(dead?.id);
  expect(await deliveries(agentId, "?status=DEAD")).toEqual([]);
});

async function jobsOf(deliveryId: string): Promise<string[]> {
  const { rows } = await sql<{ run_at: Date }>`
    select run_at from platform_jobs.jobs where key = ${`webhook:${deliveryId}`}
  `.execute(server.platform.db);
  return rows.map(({ run_at }) => run_at.toISOString());
}

test("a redelivered message starts a new schedule", async () => {
  receiver.respondWith(respondStatus(503));
  const { agentId } = await endedAgent();
  const { makeNext } = attempts(agentId);
  for (let count = 0; count < 7; count++) await makeNext();
  const { id } = await onlyDelivery(agentId);
  await call("POST", `/v1/agents/${agentId}/webhooks/deliveries/${id}/redeliver`);
  const again = [await makeNext(), await makeNext()];
  expect(again).toMatchObject([{ status: "WAITING" }, { status: "WAITING" }]);
  const made = again[1]?.attempts.slice(-2).map(({ startedAt }) => Date.parse(startedAt)) ?? [];
  expect((made[1] ?? 0) - (made[0] ?? 0)).toBe(10_000);
});

test("a receiver that is down for most of an hour gets the message afterwards", async () => {
  const { port } = new URL(receiver.url);
  const { agentId } = await endedAgent();
  await receiver.close();
  const { makeNext } = attempts(agentId);
  for (let count = 0; count < 4; count++)
    expect((await makeNext())?.attempts.at(-1)).toMatchObject({ outcome: "unreachable" });
  receiver = await startWebhookReceiver(Number(port));
  const delivered = await makeNext();
  expect(delivered).toMatchObject({ status: "DELIVERED", attempts: { length: 5 } });
  expect(
    Date.parse(delivered?.attempts[4]?.startedAt ?? "") - Date.parse(delivered?.attempts[0]?.startedAt ?? ""),
  ).toBe(3_600_000);
});

test("a receiver that hangs is aborted at the timeout", async () => {
  receiver.respondWith(() => {});
  const { agentId } = await endedAgent();
  const delivery = await attempts(agentId, { timeoutMs: 300 }).makeNext();
  expect(delivery).toMatchObject({ status: "WAITING", attempts: [{ outcome: "timed_out" }] });
});

test("an endless response is a success, and is not read to its end", async () => {
  let poured = 0;
  receiver.respondWith((response) => {
    response.writeHead(200);
    const pour = () => {
      do poured += 65_536;
      while (response.write(Buffer.alloc(65_536)));
    };
    response.on("drain", pour);
    pour();
  });
  const { agentId } = await endedAgent();
  expect(await attempts(agentId).makeNext()).toMatchObject({ status: "DELIVERED" });
  // The capacity of two socket buffers.
  expect(poured).toBeLessThan(32 * 1024 * 1024);
});

test("an attempt is over when the status arrives, though the body never ends", async () => {
  receiver.respondWith((response) => void response.writeHead(202).flushHeaders());
  const { agentId } = await endedAgent();
  expect(await attempts(agentId, { timeoutMs: 600_000 }).makeNext()).toMatchObject({
    status: "DELIVERED",
    attempts: [{ outcome: "delivered", responseStatus: 202 }],
  });
});

test("a receiver that switches to another protocol has refused, and holds no slot", async () => {
  receiver.respondWith((response) => void response.socket?.end(switching));
  const { agentId } = await endedAgent();
  expect(await attempts(agentId).makeNext()).toMatchObject({
    status: "WAITING",
    attempts: [{ outcome: "unreachable" }],
  });
});

const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n";

test("a receiver that sends interim responses without end is unreachable, before the timeout", async () => {
  receiver.respondWith((response) => void response.socket?.write("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1_000)));
  const { agentId } = await endedAgent();
  expect(await attempts(agentId).makeNext()).toMatchObject({ attempts: [{ outcome: "unreachable" }] });
});

test("a redirect is a failure, whatever its target", async () => {
  const elsewhere = await startWebhookReceiver();
  const { agentId } = await endedAgent();
  const { makeNext } = attempts(agentId);
  for (const location of ["http://169.254.169.254/latest/meta-data/", elsewhere.url]) {
    receiver.respondWith(respondStatus(307, { location }));
    expect((await makeNext())?.attempts.at(-1)).toMatchObject({ outcome: "refused", responseStatus: 307 });
  }
  expect(elsewhere.received).toEqual([]);
  await elsewhere.close();
});

test.each([
  "http://169.254.169.254/latest/meta-data/",
  "http://10.0.0.1/",
  "http://[::1]:9/",
  "http://[::ffff:169.254.169.254]/",
  "http://2852039166/",
  "http://0xa9.0xfe.0xa9.0xfe/",
  "http://ip6-localhost:8080/",
  "http://ip6-loopback/",
  "http://metadata.google.internal/",
])("%s is refused as a receiver", async (url) => {
  const answer = await call("POST", "/v1/agents", { prompt: { text: "hi" }, webhook: { url } });
  expect(answer).toMatchObject({ status: 400, body: { error: { code: "validation_error" } } });
  expect(JSON.stringify(answer.body)).toContain("private address");
});

test.each([
  [{ url: "ftp://example.org/" }, "webhook.url"],
  [{ url: "https://user:pass@example.org/" }, "webhook.url"],
  [{ url: "http://example.org:25/" }, "webhook.url: port 25"],
  [{ url: "https://example.org/", secret: "short" }, "webhook.secret"],
  [{ url: "https://example.org/", event: "all" }, "webhook.event"],
  [{ secret }, "webhook.url"],
])("the webhook %j is refused", async (webhook, field) => {
  const answer = await call("POST", "/v1/agents", { prompt: { text: "hi" }, webhook });
  expect(answer.status).toBe(400);
  expect(JSON.stringify(answer.body)).toContain(field);
});

test("a name that resolves to a private address is refused when the agent is created", async () => {
  const resolving = (...addresses: string[]) => openNetworkPolicy({ allowPrivate: [], resolve: async () => addresses });
  const check = (policy: NetworkPolicy) => checkReceiver("https://hooks.example/", policy);
  await expect(check(resolving("10.0.0.1"))).rejects.toThrow("private address");
  await expect(check(resolving("93.184.215.14", "::1"))).rejects.toThrow("private address");
  await check(resolving("93.184.215.14"));
});

test("a name that resolves to a private address at delivery time is not connected to", async () => {
  const { port } = new URL(receiver.url);
  const { agentId } = await endedAgent({ url: `http://rebound.example:${port}/hook` });
  const answers = [["192.168.1.1"], ["93.184.215.14", "169.254.169.254"], ["127.0.0.1", "::1"]];
  const asked: string[] = [];
  const policy = openNetworkPolicy({
    allowPrivate,
    resolve: async (name) => {
      asked.push(name);
      return answers.shift() ?? ["10.0.0.1"];
    },
  });
  const { makeNext } = attempts(agentId, { policy });
  const outcomes = [];
  for (let count = 0; count < 3; count++) outcomes.push((await makeNext())?.attempts.at(-1)?.outcome);
  expect(outcomes).toEqual(["forbidden", "forbidden", "delivered"]);
  // Once per attempt: the checked address is the one connected to.
  expect(asked).toEqual(["rebound.example", "rebound.example", "rebound.example"]);
  expect(receiver.received[0]?.headers.host).toBe(`rebound.example:${port}`);
});

test("a cancelled run is delivered in v1", async () => {
  const { port } = new URL(receiver.url);
  const created = await call("POST", "/v1/agents", {
    prompt: { text: "run `sleep 60`" },
    webhook: { url: `http://127.0.0.1:${port}/` },
  });
  const { agent, run } = created.body as { agent: { id: string }; run: Run };
  await call("POST", `/v1/agents/${agent.id}/runs/${run.id}/cancel`);
  await endOf(agent.id, run.id);
  await attempts(agent.id).makeNext();
  expect(JSON.parse((await receiver.waitFor(1))[0]?.body ?? "")).toMatchObject({ status: "CANCELLED", runId: run.id });
});

test("a delivery is shown with attempts consistent with its status, even while one is being recorded", async () => {
  const { agentId } = await endedAgent();
  const { id } = await onlyDelivery(agentId);
  await sql`
    insert into webhook_attempts (delivery_id, number, started_at, duration_ms, outcome)
    values (${id}, 1, now(), 5, 'delivered')
  `.execute(server.platform.db);
  expect(await onlyDelivery(agentId)).toMatchObject({ status: "WAITING", attempts: [] });
});

test("a completed attempt is not repeated, and one interrupted by a stop is not counted", async () => {
  const { agentId } = await endedAgent();
  const { id } = await onlyDelivery(agentId);
  const stopping = AbortSignal.abort(new Error("the server stops"));
  const { platform } = server;
  const policy = openNetworkPolicy({ allowPrivate });
  const host = { platform, policy, publicUrl: () => "", now: () => new Date(), timeoutMs: 5_000 };
  await expect(attemptDelivery(host, { deliveryId: id, attempt: 1 }, stopping)).rejects.toThrow("the server stops");
  expect(await onlyDelivery(agentId)).toMatchObject({ status: "WAITING", attempts: [] });
  await attempts(agentId).makeNext();
  await attemptDelivery(host, { deliveryId: id, attempt: 1 }, new AbortController().signal);
  expect(receiver.received).toHaveLength(1);
});

test("deliveries are listed per agent, only for its team, with pagination", async () => {
  const { agentId } = await endedAgent();
  const follow = await call("POST", `/v1/agents/${agentId}/runs`, { prompt: { text: "say hello" } });
  await endOf(agentId, (follow.body as { run: Run }).run.id);
  const path = `/v1/agents/${agentId}/webhooks/deliveries`;
  const first = await call("GET", `${path}?limit=1`);
  const { items, nextCursor } = first.body as { items: WebhookDelivery[]; nextCursor?: string };
  const second = await call("GET", `${path}?limit=1&cursor=${nextCursor}`);
  const rest = second.body as { items: WebhookDelivery[]; nextCursor?: string };
  expect([...items, ...rest.items]).toEqual(await deliveries(agentId));
  expect(rest.nextCursor).toBeUndefined();
  const stranger = await server.key({ team: `other-${randomUUID()}` });
  expect(await server.call(stranger, "GET", path)).toMatchObject({ status: 404 });
  expect(await server.call(stranger, "POST", `${path}/${items[0]?.id}/redeliver`)).toMatchObject({ status: 404 });
  expect(await call("POST", `${path}/wh_none/redeliver`)).toMatchObject({
    status: 404,
    body: { error: { code: "delivery_not_found" } },
  });
});

test("the scheduler delivers automatically", async () => {
  const { platform } = server;
  const policy = openNetworkPolicy({ allowPrivate });
  const host = { platform, policy, publicUrl: () => "http://here", now: () => new Date(), timeoutMs: 5_000 };
  const work = await startDeliveries(platform, host);
  try {
    const { agentId } = await endedAgent();
    await receiver.waitFor(1);
    await eventually(async () => expect(await onlyDelivery(agentId)).toMatchObject({ status: "DELIVERED" }));
    const { id } = await onlyDelivery(agentId);
    await call("POST", `/v1/agents/${agentId}/webhooks/deliveries/${id}/redeliver`);
    await receiver.waitFor(2);
    await eventually(async () => expect(await onlyDelivery(agentId)).toMatchObject({ attempts: { length: 2 } }));
  } finally {
    await work.stop();
  }
});

test("receivers of one team that never respond do not delay the deliveries of another team", async () => {
  const { platform } = server;
  const [hanging, prompt] = [await startWebhookReceiver(), receiver];
  hanging.respondWith(() => {});
  await Promise.all(Array.from({ length: 16 }, () => endedAgent({ url: hanging.url })));
  const policy = openNetworkPolicy({ allowPrivate });
  const host = { platform, policy, publicUrl: () => "", now: () => new Date(), timeoutMs: 600_000 };
  const work = await startDeliveries(platform, host);
  try {
    await hanging.waitFor(1);
    const other = await server.key({ team: `other-${randomUUID()}` });
    const webhook = { url: prompt.url };
    expect(await server.call(other, "POST", "/v1/agents", { prompt: { text: "say hello" }, webhook })).toMatchObject({
      status: 200,
    });
    await prompt.waitFor(1);
    expect(hanging.received.length).toBeLessThanOrEqual(4);
  } finally {
    await hanging.close();
    await work.stop();
  }
});

test("a delivery that is due already is not started again, and redeliver takes ten requests in a minute", async () => {
  const { agentId } = await endedAgent();
  const { id } = await onlyDelivery(agentId);
  const path = `/v1/agents/${agentId}/webhooks/deliveries/${id}/redeliver`;
  const asked = async () => {
    const { rows } = await sql`select from audit_entries where entry like ${`%wanted_again%${id}%`}`.execute(
      server.platform.db,
    );
    return rows.length;
  };
  expect(await call("POST", path)).toMatchObject({ status: 200, body: { id, status: "WAITING" } });
  expect(await asked()).toBe(0);
  await attempts(agentId).makeNext();
  await call("POST", path);
  await call("POST", path);
  expect(await asked()).toBe(1);
  const limited = await testServer({ roles: ["api"], rateLimits: { ...noRateLimits, requestsPerMinute: 1_000 } });
  onTestFinished(limited.close);
  const own = await limited.key();
  const statuses: number[] = [];
  for (let count = 0; count < 11; count++) statuses.push((await limited.call(own, "POST", path)).status);
  expect(statuses).toEqual([...Array(10).fill(404), 429]);
});

test("late attempts are never closer together than planned", () => {
  const lateness = fc.array(fc.nat(10 ** 9), { minLength: 7, maxLength: 7 });
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date(2 ** 42), noInvalidDate: true }), lateness, (begin, late) => {
      let at: Date | null = begin;
      for (let made = 1; at; made++) {
        const started = new Date(at.getTime() + (late[made - 1] ?? 0));
        const next = nextAttemptAt(started, made);
        const [planned, before] = [attemptsAtMs[made], attemptsAtMs[made - 1]];
        if (planned === undefined || before === undefined) expect(next).toBeNull();
        else expect(Number(next) - Number(started)).toBe(planned - before);
        at = next;
      }
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
});
