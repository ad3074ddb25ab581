// Identity tokens on a worker: a command gets one from the socket, and a verifier checks it with what the platform publishes.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Reply } from "@agentcli/testkit";
import { servePlatformForTest, startTestWorker } from "@agentcli/testkit/platform";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { expect, test } from "vitest";

const program = `
const { request } = require("node:http");
const ask = (body) => new Promise((resolve) => request(
  { socketPath: process.env.PLATFORM_AGENT_SOCKET, method: "POST", path: "/v1/tokens/oidc", headers: { "content-type": "application/json" } },
  async (response) => { let text = ""; for await (const part of response) text += part; resolve([response.statusCode, JSON.parse(text)]); },
).end(JSON.stringify(body)));
(async () => {
  const startedAt = performance.now();
  const answers = [await ask({ aud: "sts.example.com", nonce: "n-1" }), await ask({ aud: "sts.example.com", sub_claim: "team_id" })];
  while (answers.every(([status]) => status === 200)) answers.push(...(await Promise.all([1, 2, 3, 4].map(() => ask({ aud: "a" })))));
  const seconds = (performance.now() - startedAt) / 1000;
  require("node:fs").writeFileSync("answers.json", JSON.stringify({ answers, seconds }));
})();
`;

interface Asked {
  answers: [number, { token: string; expires_at: string }][];
  seconds: number;
}

interface Claims {
  sub: string;
  nonce?: string;
  cloud_agent_id: string;
  turn_id: string;
  agent_runtime: string;
  repo_url: string;
  repo_count: number;
}

test("a command on a worker gets tokens for its agent, which anyone can verify, and at most ten at once", async () => {
  const run: Reply = { calls: [{ name: "exec_command", arguments: { cmd: `${process.execPath} ask.cjs` } }] };
  const platform = await servePlatformForTest({
    replies: { replies: [run, { messages: ["Done."] }], repeat: "last" },
  });
  const client = await platform.client();
  const url = await platform.repository("shop", { "ask.cjs": program });
  const worker = startTestWorker({
    ...{
      url: platform.server.url,
      key: client.key,
      directory: platform.harness.directory,
      args: ["--identity-socket"],
    },
  });
  await expect.poll(() => worker.log().join("\n")).toContain("Waiting for agents.");
  const ids = await client.create("ask", { env: { type: "machine" }, repos: [{ url }] });
  expect(await client.waitForRun(ids)).toMatchObject({ status: "FINISHED" });
  const file = join(worker.data, "agents", ids.agentId, "files/shop/answers.json");
  const { answers, seconds } = JSON.parse(readFileSync(file, "utf8")) as Asked;
  const given = answers.filter(([status]) => status === 200).length;
  expect(given).toBeGreaterThanOrEqual(10);
  // One more every two seconds, however slow the machine is.
  expect(given).toBeLessThanOrEqual(11 + seconds / 2);
  expect(new Set(answers.map(([status]) => status))).toEqual(new Set([200, 429]));

  const discovery = await (await fetch(`${platform.server.url}/.well-known/openid-configuration`)).json();
  expect(discovery).toMatchObject({ issuer: platform.server.url, x_platform_audience_bound: true });
  const keys = createRemoteJWKSet(new URL((discovery as { jwks_uri: string }).jwks_uri));
  const verify = async (token = "") => {
    const { payload, protectedHeader } = await jwtVerify<Claims>(token, keys, {
      ...{ issuer: platform.server.url, audience: "sts.example.com", algorithms: ["RS256"] },
    });
    return { ...payload, header: protectedHeader };
  };
  const first = await verify(answers[0]?.[1].token);
  expect(first).toMatchObject({
    ...{ sub: expect.stringMatching(/^user:\d+$/), nonce: "n-1", cloud_agent_id: ids.agentId, turn_id: ids.runId },
    ...{ agent_runtime: "self_hosted", repo_url: expect.stringMatching(/shop$/), repo_count: 1 },
    header: { typ: "JWT", kid: expect.any(String) },
  });
  const { iat = 0, nbf, exp } = first;
  expect({ nbf, exp }).toEqual({ nbf: iat - 5, exp: iat + 300 });
  expect(Date.parse(answers[0]?.[1].expires_at ?? "")).toBe((iat + 300) * 1_000);
  expect((await verify(answers[1]?.[1].token)).sub).toMatch(/^team_id:\d+$/);
  const [head, body, signature] = answers[0]?.[1].token.split(".") ?? [];
  await expect(verify(`${head}.${body}.${signature?.replace(/^./, (c) => (c === "A" ? "B" : "A"))}`)).rejects.toThrow();
});
