// Servers that are killed while they deliver: another one, or the same one started again, delivers.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Run } from "@agentcli/protocol/api";
import { eventually } from "@agentcli/testkit";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openNetworkPolicy } from "../src/network/index.ts";
import { deliveryLimitMs, startDeliveries } from "../src/webhooks/index.ts";
import { bundled } from "./bundled.ts";
import { type TestServer, testServer } from "./platform.ts";
import { openReceiver, type Receiver, status } from "./receiver.ts";

let server: TestServer;
let key: string;
let receiver: Receiver;
const children: ChildProcess[] = [];

beforeAll(async () => {
  server = await testServer({ roles: ["api", "runner"], allowPrivate: ["127.0.0.0/8"] });
  key = await server.key();
});
afterAll(() => server.close());
beforeEach(async () => {
  receiver = await openReceiver();
});
afterEach(async () => {
  for (const child of children.splice(0)) await kill(child);
  await receiver.close();
});

async function startChild(): Promise<ChildProcess> {
  const child = spawn(
    process.execPath,
    [await bundled("delivery-child.ts"), JSON.stringify(server.platform.settings)],
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
  return startDeliveries(platform, { platform, policy, now, publicUrl: () => "http://here", limitMs: deliveryLimitMs });
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

/** A run whose end the receiver has been told and has not answered. */
async function hangingDelivery(): Promise<{ agentId: string; deliveryId: unknown }> {
  receiver.answer(() => {});
  const webhook = { url: receiver.url };
  const { body } = await server.call(key, "POST", "/v1/agents", { prompt: { text: "say hello" }, webhook });
  const [message] = await receiver.arrived(1);
  return { agentId: (body as { run: Run }).run.agentId, deliveryId: message?.headers["x-webhook-id"] };
}

/** Killed while the receiver has the message and has not answered. */
async function killWhileDelivering(): Promise<{ agentId: string; deliveryId: unknown }> {
  const child = await startChild();
  const told = await hangingDelivery();
  await kill(child);
  receiver.answer(status(200));
  return told;
}

async function expectDelivered({ agentId, deliveryId }: { agentId: string; deliveryId: unknown }): Promise<void> {
  const [, again] = await receiver.arrived(2);
  expect(again?.headers["x-webhook-id"]).toBe(deliveryId);
  await eventually(async () => {
    const { body } = await server.call(key, "GET", `/v1/agents/${agentId}/webhooks/deliveries`);
    expect(body).toMatchObject({
      items: [{ id: deliveryId, status: "DELIVERED", attempts: [{ responseStatus: 200 }] }],
    });
  });
  expect(receiver.received).toHaveLength(2);
}

test("a server that was killed is found dead by its silence, and another delivers", async () => {
  const told = await killWhileDelivering();
  const { platform } = server;
  // Its silence, sooner than it would be heard.
  await sql`update nodes set heartbeat_at = now() - interval '1 minute' where id <> ${platform.nodeId}`.execute(
    platform.db,
  );
  const work = await startHere();
  try {
    await expectDelivered(told);
  } finally {
    await work.stop();
  }
});

test("a server that is started again knows that its former life is over", async () => {
  const told = await killWhileDelivering();
  await startChild();
  await expectDelivered(told);
});

test("a server that stops gives back what it could not finish, and it counts as not tried", async () => {
  const work = await startHere();
  const told = await hangingDelivery();
  await work.stop();
  receiver.answer(status(200));
  const again = await startHere();
  try {
    await expectDelivered(told);
  } finally {
    await again.stop();
  }
});

test("a server that lives keeps its jobs, however long they take", async () => {
  await startChild();
  await hangingDelivery();
  // Looks for dead servers as it starts.
  await (await startHere()).stop();
  const { rows } = await sql<{ locked: boolean }>`
    select locked_by is not null as locked from platform_jobs.jobs
  `.execute(server.platform.db);
  expect(rows).toEqual([{ locked: true }]);
  expect(receiver.received).toHaveLength(1);
});
