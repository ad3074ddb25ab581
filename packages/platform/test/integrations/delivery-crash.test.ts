// Servers killed during a delivery: another server, or the same one after a restart, delivers.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Run } from "@agentcli/protocol/api";
import { eventually } from "@agentcli/testkit";
import { respondStatus, startWebhookReceiver, type WebhookReceiver } from "@agentcli/testkit/platform";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openNetworkPolicy } from "../../src/foundation/network/index.ts";
import { deliveryTimeoutMs, startDeliveries } from "../../src/integrations/webhooks/index.ts";
import { programsOfTests } from "../harness/bundled.ts";
import { type TestServer, testServer } from "../harness/platform.ts";

const bundled = programsOfTests();

let server: TestServer;
let key: string;
let receiver: WebhookReceiver;
const children: ChildProcess[] = [];

beforeAll(async () => {
  server = await testServer({ roles: ["api", "runner"], allowPrivate: ["127.0.0.0/8"] });
  key = await server.key();
});
afterAll(() => server.close());
beforeEach(async () => {
  receiver = await startWebhookReceiver();
});
afterEach(async () => {
  for (const child of children.splice(0)) await kill(child);
  await receiver.close();
});

async function startChild(): Promise<ChildProcess> {
  const child = spawn(
    process.execPath,
    [await bundled("integrations/delivery-child.ts"), JSON.stringify(server.platform.settings)],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  children.push(child);
  await once(createInterface(child.stdout), "line");
  return child;
}

/** In this process. */
function startHere(): Promise<{ stop(): Promise<void> }> {
  const { platform } = server;
  const policy = openNetworkPolicy(platform.settings);
  const now = () => new Date();
  return startDeliveries(platform, {
    platform,
    policy,
    now,
    publicUrl: () => "http://here",
    timeoutMs: deliveryTimeoutMs,
  });
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

/** A run whose end was sent to the receiver, which has not responded yet. */
async function hangingDelivery(): Promise<{ agentId: string; deliveryId: unknown }> {
  receiver.respondWith(() => {});
  const webhook = { url: receiver.url };
  const { body } = await server.call(key, "POST", "/v1/agents", { prompt: { text: "say hello" }, webhook });
  const [message] = await receiver.waitFor(1);
  return { agentId: (body as { run: Run }).run.agentId, deliveryId: message?.headers["x-webhook-id"] };
}

/** Killed after the receiver got the message and before it responded. */
async function killWhileDelivering(): Promise<{ agentId: string; deliveryId: unknown }> {
  const child = await startChild();
  const delivery = await hangingDelivery();
  await kill(child);
  receiver.respondWith(respondStatus(200));
  return delivery;
}

async function expectDelivered({ agentId, deliveryId }: { agentId: string; deliveryId: unknown }): Promise<void> {
  const [, again] = await receiver.waitFor(2);
  expect(again?.headers["x-webhook-id"]).toBe(deliveryId);
  await eventually(async () => {
    const { body } = await server.call(key, "GET", `/v1/agents/${agentId}/webhooks/deliveries`);
    expect(body).toMatchObject({
      items: [{ id: deliveryId, status: "DELIVERED", attempts: [{ responseStatus: 200 }] }],
    });
  });
  expect(receiver.received).toHaveLength(2);
}

test("a killed server is detected by its missing heartbeat, and another delivers", async () => {
  const delivery = await killWhileDelivering();
  const { platform } = server;
  // Expires the heartbeat at once instead of waiting.
  await sql`update nodes set heartbeat_at = now() - interval '1 minute' where id <> ${platform.nodeId}`.execute(
    platform.db,
  );
  const work = await startHere();
  try {
    await expectDelivered(delivery);
  } finally {
    await work.stop();
  }
});

test("a restarted server unlocks the jobs of its former process", async () => {
  const delivery = await killWhileDelivering();
  await startChild();
  await expectDelivered(delivery);
});

test("a server that stops releases unfinished deliveries, and they do not count as attempts", async () => {
  const work = await startHere();
  const delivery = await hangingDelivery();
  await work.stop();
  receiver.respondWith(respondStatus(200));
  const again = await startHere();
  try {
    await expectDelivered(delivery);
  } finally {
    await again.stop();
  }
});

test("a running server keeps its jobs, however long they take", async () => {
  await startChild();
  await hangingDelivery();
  // Checks for dead servers at its start.
  await (await startHere()).stop();
  const { rows } = await sql<{ locked: boolean }>`
    select locked_by is not null as locked from platform_jobs.jobs
  `.execute(server.platform.db);
  expect(rows).toEqual([{ locked: true }]);
  expect(receiver.received).toHaveLength(1);
});
