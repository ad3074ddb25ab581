// The identity socket as a command of an agent sees it; the platform is played.
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { type IdentitySockets, openIdentitySockets } from "../src/identity.ts";
import { askPlatform, type IdentityAnswerer } from "../src/identity-request.ts";

const agent = "bc-00000000-0000-4000-8000-000000000000";

async function openSocket(answerer: IdentityAnswerer): Promise<{ path: string; sockets: IdentitySockets }> {
  const { path: data, remove } = await temporaryDirectory();
  const sockets = openIdentitySockets(data, answerer);
  onTestFinished(async () => {
    await sockets.close(agent);
    await remove();
  });
  return { path: join(await sockets.open(agent), "api.sock"), sockets };
}

interface Asked {
  method?: string;
  path?: string;
  type?: string;
  body?: string;
}

function ask(socketPath: string, { method = "POST", path = "/v1/tokens/oidc", type, body = "" }: Asked) {
  return new Promise<{ status: number; body: Record<string, string>; headers: object }>((resolve, reject) => {
    const headers = { "content-type": type ?? "application/json", connection: "close" };
    const sent = request({ socketPath, method, path, headers }, async (response) => {
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part as Buffer);
      const { statusCode: status = 0, headers: received } = response;
      resolve({ status, body: JSON.parse(Buffer.concat(parts).toString()), headers: received });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const token: IdentityAnswerer = async (_, asked) => ({ status: 200, body: { token: JSON.stringify(asked) } });

test.each<Asked & { status: number; error: string }>([
  { body: "{", status: 400, error: "invalid_json" },
  { body: "[]", status: 400, error: "invalid_json" },
  { body: "{}", status: 400, error: "invalid_aud" },
  { body: '{"aud":""}', status: 400, error: "invalid_aud" },
  { body: '{"aud":"caf\u00e9"}', status: 400, error: "invalid_aud" },
  { body: JSON.stringify({ aud: "a".repeat(513) }), status: 400, error: "invalid_aud" },
  { body: '{"aud":"a","nonce":1}', status: 400, error: "invalid_nonce" },
  { body: JSON.stringify({ aud: "a", nonce: "n".repeat(513) }), status: 400, error: "invalid_nonce" },
  { body: '{"aud":"a","sub_claim":"owner_email"}', status: 400, error: "invalid_sub_claim" },
  { body: JSON.stringify({ aud: "a", more: "m".repeat(4_096) }), status: 413, error: "body_too_large" },
  { type: "text/plain", body: '{"aud":"a"}', status: 415, error: "invalid_content_type" },
  { method: "GET", status: 405, error: "method_not_allowed" },
  { method: "GET", path: "/v1/meta-data/agent/id", status: 404, error: "not_found" },
])("$method $path $body is answered with $status $error", async ({ status, error, ...asked }) => {
  const { path } = await openSocket(token);
  const answered = await ask(path, asked);
  expect(answered).toMatchObject({ status, body: { error } });
  expect("usage" in answered.body).toBe(status === 404 || status === 405);
});

test("a request reaches the platform as the agent whose socket it is", async () => {
  const { path } = await openSocket(async (asking, asked) => ({ status: 200, body: { asking, ...asked } }));
  const body = '{"aud":"sts.example.com","nonce":"n","sub_claim":"team_id","agent":"bc-other"}';
  expect((await ask(path, { body })).body).toEqual({
    ...{ asking: agent, aud: "sts.example.com", nonce: "n", subClaim: "team_id" },
  });
});

test("a ninth connection is refused as saturated", async () => {
  const waiting: (() => void)[] = [];
  const { path } = await openSocket(async () => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return { status: 200, body: {} };
  });
  const eight = Array.from({ length: 8 }, () => ask(path, { body: '{"aud":"a"}' }));
  await expect.poll(() => waiting.length).toBe(8);
  expect(await ask(path, { body: '{"aud":"a"}' })).toMatchObject({
    ...{ status: 503, body: { error: "saturated" }, headers: { "retry-after": "1" } },
  });
  for (const answer of waiting) answer();
  expect((await Promise.all(eight)).map(({ status }) => status)).toEqual(Array(8).fill(200));
});

test("connections that an agent holds keep no other agent from its tokens", async () => {
  const { path, sockets } = await openSocket(token);
  const other = "bc-00000000-0000-4000-8000-000000000001";
  onTestFinished(() => sockets.close(other));
  const held = Array.from({ length: 9 }, () => connect(path));
  onTestFinished(() => {
    for (const connection of held) connection.destroy();
  });
  await expect.poll(async () => (await ask(path, { body: '{"aud":"a"}' })).status).toBe(503);
  const answered = await ask(join(await sockets.open(other), "api.sock"), { body: '{"aud":"a"}' });
  expect(answered.status).toBe(200);
});

test.each([
  { refusal: "rate_limited", status: 429, error: "rate_limited" },
  { refusal: "disconnected", status: 502, error: "backend_unreachable" },
  { refusal: "not_served", status: 502, error: "backend_error" },
])("a platform that answers $refusal makes it $status $error", async ({ refusal, status, error }) => {
  const failure = Object.assign(new Error("no"), { code: refusal });
  const link = { request: () => Promise.reject(failure), closed: new Promise<void>(() => {}), close() {} };
  const { path } = await openSocket(askPlatform(() => link));
  expect(await ask(path, { body: '{"aud":"a"}' })).toMatchObject({ status, body: { error } });
});

test("without a connection to the platform there is no token", async () => {
  const { path } = await openSocket(askPlatform(() => null));
  expect(await ask(path, { body: '{"aud":"a"}' })).toMatchObject({
    status: 502,
    body: { error: "backend_unreachable" },
  });
});
