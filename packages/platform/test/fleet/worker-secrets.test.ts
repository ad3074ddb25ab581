// What of the secrets of an agent reaches a worker: only what its operator has asked for.
import { randomUUID } from "node:crypto";
import { type FakeGithub, startGithub } from "@agentcli/testkit/github";
import { openClient } from "@agentcli/testkit/platform";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestServer, testServer } from "../harness/platform.ts";
import { githubSettings } from "../repositories/github-settings.ts";
import { exited, honest, serving } from "./played-worker.ts";
import { openRawWorker, registration } from "./raw-worker.ts";

let fake: FakeGithub;
let server: TestServer;
let user: string;
let account: string;
beforeAll(async () => {
  fake = await startGithub();
  await fake.addRepository("acme/shop", {});
  const github = await githubSettings(fake);
  server = await testServer({
    allowPrivate: ["127.0.0.0/8"],
    sourceHosts: { blocked: [], protected: [], github },
  });
  user = await server.key();
  account = await server.key({ owner: { kind: "service_account", name: "pool" } });
  const set = await server.call(user, "PUT", "/v1/team/secrets/NPM_TOKEN", { value: "secret-of-the-team" });
  expect(set.status).toBe(201);
});
afterAll(async () => {
  await server.close();
  await fake.close();
});

/** The variables that a worker with this registration gets, and how the run ended whose command prints all of them. */
async function variablesOf(receives: object | undefined, request: object = {}) {
  const pool = `pool-${randomUUID()}`;
  const given: Record<string, string>[] = [];
  const printing = serving(({ operation, call }, write) => {
    if (operation !== "exec") return {};
    write({ frame: "chunk", call, chunk: { seq: 1, stream: "stdout", text: JSON.stringify(given) } });
    return exited(0);
  });
  const { link } = await openRawWorker(server.url, account, async (asked, answer) => {
    asked.stream.on("error", () => {});
    if (asked.name !== "sandbox.open") return honest[asked.name]?.(asked, answer);
    given.push((asked.body as { variables: Record<string, string> }).variables);
    return printing(asked, answer);
  });
  await link.request("register", registration({ workerId: pool, name: pool, pool, receives }));
  const client = openClient(server.url, account);
  const repos = [{ url: `${fake.url}/acme/shop` }];
  const ids = await client.create("run cat notes.txt", { repos, env: { type: "pool", name: pool }, ...request });
  const frames = await client.stream(ids);
  const [variables = {}] = given;
  return { variables, frames: JSON.stringify(frames), status: (await client.read(ids)).status };
}

test("a worker whose operator asked for nothing gets no secret of the dashboard and no token", async () => {
  for (const receives of [undefined, { secrets: false, githubToken: false }]) {
    const { variables, status } = await variablesOf(receives, { envVars: { GIVEN: "with the request" } });
    expect(status).toBe("FINISHED");
    expect(variables).toMatchObject({ GIVEN: "with the request" });
    expect(Object.keys(variables)).not.toEqual(expect.arrayContaining(["NPM_TOKEN"]));
    expect(JSON.stringify(variables)).not.toMatch(/secret-of-the-team|ghs_|GH_TOKEN|GITHUB_TOKEN/);
  }
});

test("with --sync-dashboard-secrets it gets those secrets, and readers of the run do not", async () => {
  const { variables, frames, status } = await variablesOf({ secrets: true });
  expect(status).toBe("FINISHED");
  expect(variables).toMatchObject({ NPM_TOKEN: "secret-of-the-team" });
  expect(variables).not.toHaveProperty("GH_TOKEN");
  expect(frames).toContain("[REDACTED");
  expect(frames).not.toContain("secret-of-the-team");
});

test("with --mint-github-token it gets a token of the app, and readers of the run do not", async () => {
  const { variables, frames, status } = await variablesOf({ githubToken: true });
  expect(status).toBe("FINISHED");
  const { GH_TOKEN: token = "" } = variables;
  expect(token).not.toBe("");
  expect(variables.GITHUB_TOKEN).toBe(token);
  expect(variables).not.toHaveProperty("NPM_TOKEN");
  expect(frames).toContain("[REDACTED");
  expect(frames).not.toContain(token);
});

test("a run that only reads gets no token", async () => {
  const { variables, status } = await variablesOf({ githubToken: true }, { mode: "plan" });
  expect(status).toBe("FINISHED");
  expect(variables).not.toHaveProperty("GH_TOKEN");
});
