// Receivers with TLS: nothing is sent to an untrusted certificate; a private certificate can be configured as trusted.
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import type { Run, WebhookDelivery } from "@agentcli/protocol/api";
import { eventually, type TemporaryDirectory, temporaryDirectory } from "@agentcli/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openNetworkPolicy } from "../../src/foundation/network/index.ts";
import { attemptDelivery } from "../../src/integrations/webhooks/index.ts";
import { startJobs } from "../../src/operations/jobs/index.ts";
import { programsOfTests } from "../harness/bundled.ts";
import { type TestServer, testServer } from "../harness/platform.ts";

const bundled = programsOfTests();

let server: TestServer;
let key: string;
let home: TemporaryDirectory;
const secret = "a secret of thirty-two characters";
const allowPrivate = ["127.0.0.0/8"];

beforeAll(async () => {
  server = await testServer({ roles: ["api", "runner"], allowPrivate });
  key = await server.key();
  await (await startJobs(server.platform, { nothing: async () => {} })).stop();
  home = await temporaryDirectory();
});
afterAll(async () => {
  await server.close();
  await home.remove();
});

interface Receiver {
  url: string;
  received: { headers: Record<string, unknown>; body: Buffer }[];
  close(): Promise<void>;
}

/** With a self-signed certificate for this name. */
async function secureReceiver(name: string): Promise<Receiver & { certificateFile: string }> {
  const [keyFile, certificateFile] = [join(home.path, `${name}.key`), join(home.path, `${name}.crt`)];
  const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=${/^[\d.]+$/.test(name) ? "IP" : "DNS"}:${name}`];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...subject];
  await promisify(execFile)("openssl", [...made, "-keyout", keyFile, "-out", certificateFile]);
  const received: Receiver["received"] = [];
  const tls = { key: readFileSync(keyFile), cert: readFileSync(certificateFile) };
  const listening: Server = createServer(tls, async (request, response) => {
    received.push({ headers: request.headers, body: await buffer(request) });
    response.writeHead(204).end();
  }).listen(0, "127.0.0.1");
  await once(listening, "listening");
  return {
    url: `https://127.0.0.1:${(listening.address() as AddressInfo).port}/hook`,
    certificateFile,
    received,
    async close() {
      listening.closeAllConnections();
      listening.close();
      await once(listening, "close");
    },
  };
}

let receiver: Awaited<ReturnType<typeof secureReceiver>>;
beforeEach(async () => {
  receiver = await secureReceiver("127.0.0.1");
});
afterEach(() => receiver.close());

async function endedAgent(url: string): Promise<string> {
  const request = { prompt: { text: "say hello" }, webhook: { url, secret } };
  const { body } = await server.call(key, "POST", "/v1/agents", request);
  const { agent, run } = body as { agent: { id: string }; run: Run };
  await eventually(async () => {
    const found = await server.call(key, "GET", `/v1/agents/${agent.id}/runs/${run.id}`);
    expect(found.body).toMatchObject({ status: "FINISHED" });
  });
  return agent.id;
}

async function deliveryOf(agentId: string): Promise<WebhookDelivery | undefined> {
  const { body } = await server.call(key, "GET", `/v1/agents/${agentId}/webhooks/deliveries`);
  return (body as { items: WebhookDelivery[] }).items[0];
}

/** In this process, which trusts only the default certificate authorities. */
async function attempt(agentId: string): Promise<WebhookDelivery | undefined> {
  const { platform } = server;
  const policy = openNetworkPolicy({ allowPrivate });
  const host = { platform, policy, publicUrl: () => "http://here", now: () => new Date(), timeoutMs: 5_000 };
  const { id = "", attempts = [] } = (await deliveryOf(agentId)) ?? {};
  await attemptDelivery(host, { deliveryId: id, attempt: attempts.length + 1 }, new AbortController().signal);
  return deliveryOf(agentId);
}

test("an untrusted certificate is a failed attempt, and the receiver gets no data", async () => {
  const agentId = await endedAgent(receiver.url);
  for (const count of [1, 2])
    expect(await attempt(agentId)).toMatchObject({
      status: "WAITING",
      nextAttemptAt: expect.any(String),
      attempts: Array(count).fill({ outcome: "unreachable" }),
    });
  expect(receiver.received).toEqual([]);
});

test("a server configured with the certificate delivers, and openssl verifies the signature", async () => {
  const elsewhere = await secureReceiver("elsewhere.example");
  const trusted = join(home.path, "trusted.pem");
  writeFileSync(trusted, [receiver, elsewhere].map(({ certificateFile }) => readFileSync(certificateFile)).join(""));
  const child = spawn(
    process.execPath,
    [await bundled("integrations/delivery-child.ts"), JSON.stringify(server.platform.settings)],
    { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, NODE_EXTRA_CA_CERTS: trusted } },
  );
  try {
    await once(createInterface(child.stdout), "line");
    const agentId = await endedAgent(receiver.url);
    await eventually(async () => expect(await deliveryOf(agentId)).toMatchObject({ status: "DELIVERED" }));
    const [message] = receiver.received;
    const digest = ["dgst", "-sha256", "-hmac", secret, "-hex"];
    const [hex] =
      execFileSync("openssl", digest, { input: message?.body })
        .toString()
        .match(/[0-9a-f]{64}/) ?? [];
    expect(message?.headers["x-webhook-signature"]).toBe(`sha256=${hex}`);
    // A certificate is valid only for its own name.
    const other = await endedAgent(elsewhere.url);
    await eventually(async () =>
      expect((await deliveryOf(other))?.attempts).toMatchObject([{ outcome: "unreachable" }]),
    );
    expect(elsewhere.received).toEqual([]);
  } finally {
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
    await elsewhere.close();
  }
});
