// The socket in the machine of an agent: identity tokens that an independent library verifies, and metadata.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { localMachines } from "../harness/settings.ts";
import { openRunHarness, type RunHarness } from "./run-harness.ts";

const shell = (cmd: string) => call("exec_command", { cmd });
const ask = 'curl -sS --unix-socket "$PLATFORM_AGENT_SOCKET"';
const mint = `${ask} -H 'content-type: application/json' -d '{"aud": "sts.example.com", "nonce": "n-1"}' http://localhost/v1/tokens/oidc`;
const metadata = (path: string) => `${ask} http://localhost/v1/meta-data${path}; echo`;
const dayMs = 24 * 3_600_000;

async function output({ client }: RunHarness, ids: { agentId: string; runId: string }): Promise<string> {
  const frames = await client.stream(ids);
  return JSON.stringify(frames.filter(({ event }) => event === "tool_call"));
}

const tokenIn = (text: string): string => /eyJ[\w-]+\.[\w-]+\.[\w-]+/.exec(text)?.[0] ?? text;

async function verifier(base: string) {
  const discovery = (await (await fetch(`${base}/.well-known/openid-configuration`)).json()) as {
    issuer: string;
    jwks_uri: string;
  };
  const keys = createRemoteJWKSet(new URL(discovery.jwks_uri));
  return async (token: string) =>
    (await jwtVerify(token, keys, { issuer: discovery.issuer, audience: "sts.example.com", algorithms: ["RS256"] }))
      .payload;
}

const providers = [
  { provider: "host" as const, machines: undefined },
  { provider: "local" as const, machines: localMachines },
];

test.each(providers)(
  "commands on the provider $provider read who they work for, and get tokens that verify",
  async ({ machines }) => {
    const look = ["/", "/agent/id", "/agent/runtime", "/turn/id", "/workspace/repo-url", "/turn/nothing"].map(metadata);
    const harness = await openRunHarness({
      replies: { replies: [shell(`${look.join("; ")}; ${mint}`), replyWith("Done.")], repeat: "loop" },
      ...(machines && { settings: { machines } }),
    });
    const url = await harness.repository("shop", { "a.txt": "a" });
    const ids = await harness.client.create({ prompt: { text: "who am I?" }, repos: [{ url }] });
    const text = await output(harness, ids);
    const shown = ["agent/", "owner/", "turn/", "workspace/", "", ids.agentId, "managed", ids.runId].join("\\n");
    expect(text).toContain(shown);
    expect(text).toMatch(/\\n127\.0\.0\.1:\d+\/git\/[^"\\]*shop\\n/);
    expect(text).toContain("not_found");
    const verify = await verifier(harness.client.url);
    expect(await verify(tokenIn(text))).toMatchObject({
      ...{ sub: expect.stringMatching(/^user:\d+$/), nonce: "n-1", cloud_agent_id: ids.agentId, turn_id: ids.runId },
      ...{ agent_runtime: "managed", repo_count: 1, source: "API" },
    });
    // The next run has a socket at the same path, also where the machine has its directory mounted still.
    const again = await harness.client.followUp(ids.agentId, { prompt: { text: "and now?" } });
    expect(await output(harness, again)).toContain(again.runId);
    const socket = join(harness.dataDirectory, "sockets", ids.agentId);
    expect(existsSync(join(socket, "api.sock"))).toBe(false);
    await harness.client.send("DELETE", `/v1/agents/${ids.agentId}`);
    expect(existsSync(socket)).toBe(false);
  },
);

test("tokens verify with the served keys before, during and after a rotation", async () => {
  const harness = await openRunHarness({ replies: { replies: [shell(mint), replyWith("Done.")], repeat: "loop" } });
  const { db } = harness.fixture.platform;
  const age = async (days: number) => {
    for (const { id, created_at } of await db.selectFrom("identity_keys").selectAll().execute())
      await db
        .updateTable("identity_keys")
        .set({ created_at: new Date(created_at.getTime() - days * dayMs) })
        .where("id", "=", id)
        .execute();
  };
  const ids = await harness.client.create({ prompt: { text: "go" } });
  const first = tokenIn(await output(harness, ids));
  const next = async () =>
    tokenIn(await output(harness, await harness.client.followUp(ids.agentId, { prompt: { text: "go" } })));
  await age(90);
  const second = await next();
  await age(1);
  const third = await next();
  const kids = [first, second, third].map((token) => decodeProtectedHeader(token).kid);
  expect(kids[1]).toBe(kids[0]);
  expect(kids[2]).not.toBe(kids[0]);
  const verify = await verifier(harness.client.url);
  for (const token of [first, second, third])
    expect(await verify(token)).toMatchObject({ cloud_agent_id: ids.agentId });
});
