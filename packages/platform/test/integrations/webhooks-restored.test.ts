// Deliveries after a restore from backup: dead letters can be redelivered, and pending ones continue automatically.
import { join } from "node:path";
import type { Run, WebhookDelivery } from "@agentcli/protocol/api";
import { eventually, temporaryDirectory } from "@agentcli/testkit";
import { respondStatus, startWebhookReceiver } from "@agentcli/testkit/platform";
import { verify } from "@octokit/webhooks-methods";
import { expect, onTestFinished, test } from "vitest";
import { openPlatformContext } from "../../src/foundation/context.ts";
import { openNetworkPolicy } from "../../src/foundation/network/index.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { readKeyFile } from "../../src/foundation/vault/index.ts";
import { attemptDelivery } from "../../src/integrations/webhooks/index.ts";
import { makeBackup, restoreBackup } from "../../src/operations/backup/index.ts";
import { startJobs } from "../../src/operations/jobs/index.ts";
import { serve } from "../../src/serve.ts";
import { emptyDatabase } from "../harness/database.ts";
import { type TestServer, testServer } from "../harness/platform.ts";

const secret = "a secret of thirty-two characters";
const passphrase = "correct horse battery staple";

/** An agent whose run has ended, and a delivery with this many failed attempts. */
async function undelivered(server: TestServer, key: string, { url, tries }: { url: string; tries: number }) {
  const request = { prompt: { text: "say hello" }, webhook: { url, secret } };
  const { agent, run } = (await server.call(key, "POST", "/v1/agents", request)).body as {
    agent: { id: string };
    run: Run;
  };
  const path = `/v1/agents/${agent.id}/webhooks/deliveries`;
  const read = async () => ((await server.call(key, "GET", path)).body as { items: WebhookDelivery[] }).items[0];
  const found = await eventually(async () => {
    expect((await server.call(key, "GET", `/v1/agents/${agent.id}/runs/${run.id}`)).body).toMatchObject({
      status: "FINISHED",
    });
    const delivery = await read();
    if (delivery === undefined) throw new Error("the run has no delivery");
    return delivery;
  });
  const { platform } = server;
  const policy = openNetworkPolicy(platform.settings);
  const host = { platform, policy, publicUrl: () => "http://here", now: () => new Date(), timeoutMs: 5_000 };
  for (let attempt = 1; attempt <= tries; attempt += 1)
    await attemptDelivery(host, { deliveryId: found.id, attempt }, new AbortController().signal);
  return { id: found.id, path, status: (await read())?.status };
}

test("after backup and restore a dead letter is redelivered by the API, with the same id, bytes and signature", async () => {
  const receiver = await startWebhookReceiver();
  const server = await testServer({ roles: ["api", "runner"], allowPrivate: ["127.0.0.0/8"] });
  const folder = await temporaryDirectory();
  const database = await emptyDatabase();
  onTestFinished(async () => {
    await receiver.close();
    await server.close();
    await database.close();
    await folder.remove();
  });
  const key = await server.key();
  await (await startJobs(server.platform, { nothing: async () => {} })).stop();
  receiver.respondWith(respondStatus(500));
  const dead = await undelivered(server, key, { url: receiver.url, tries: 7 });
  const waiting = await undelivered(server, key, { url: receiver.url, tries: 0 });
  expect([dead.status, waiting.status]).toEqual(["DEAD", "WAITING"]);
  const before = receiver.received.map(({ body }) => body);

  const { settings } = server.platform;
  const path = join(folder.path, "backup");
  await makeBackup({
    path,
    connection: { url: settings.databaseUrl ?? "" },
    dataDirectory: settings.dataDirectory,
    kekFile: settings.kekFile,
    key: readKeyFile(settings.kekFile) ?? expect.fail("no key"),
    passphrase,
    platformVersion: "1",
    now: new Date(),
  });
  const dataDirectory = join(folder.path, "place");
  const target = { ...settings, dataDirectory, kekFile: join(dataDirectory, "kek"), databaseUrl: database.url };
  await restoreBackup({ path, passphrase, settings: target, signal: new AbortController().signal });

  receiver.respondWith(respondStatus(204));
  const signingKey = { path: join(dataDirectory, "signing-key"), isGiven: false };
  const restored = await openPlatformContext({ ...target, signingKey, roles: ["api", "scheduler"] }, silentLog);
  const { url, stop } = await serve(restored);
  try {
    const ask = (method: string, at: string) =>
      fetch(`${url}${at}`, { method, headers: { authorization: `Bearer ${key}` } });
    expect((await ask("POST", `${dead.path}/${dead.id}/redeliver`)).status).toBe(200);
    const [eighth, ninth] = (await receiver.waitFor(9)).slice(7);
    const news = [eighth, ninth].map((message) => message?.headers["x-webhook-id"]);
    expect(news.sort()).toEqual([dead.id, waiting.id].sort());
    const again = [eighth, ninth].find((message) => message?.headers["x-webhook-id"] === dead.id);
    expect(again?.body).toBe(before[0]);
    expect(await verify(secret, again?.body ?? "", String(again?.headers["x-webhook-signature"]))).toBe(true);
    await eventually(async () => {
      const { items } = (await (await ask("GET", dead.path)).json()) as { items: WebhookDelivery[] };
      expect(items).toMatchObject([{ id: dead.id, status: "DELIVERED", attempts: { length: 8 } }]);
    });
  } finally {
    await stop();
    await restored.close();
  }
});
