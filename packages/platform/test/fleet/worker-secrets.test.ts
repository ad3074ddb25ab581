// What of the secrets of an agent reaches a worker: only what its operator has asked for.
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
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

interface Asked {
  request?: object;
  /** By path below the directory of the agent: what the run leaves there. */
  files?(variables: Record<string, string>): Record<string, string>;
}

/** The variables that a worker with this registration gets, and how the run ended whose command prints all of them. */
async function variablesOf(receives: object | undefined, { request = {}, files = () => ({}) }: Asked = {}) {
  const pool = `pool-${randomUUID()}`;
  const given: Record<string, string>[] = [];
  const printing = serving(({ operation, call }, write) => {
    if (operation !== "exec") return {};
    write({ frame: "chunk", call, chunk: { seq: 1, stream: "stdout", text: JSON.stringify(given) } });
    return exited(0);
  });
  const { link } = await openRawWorker(server.url, account, async (asked, answer) => {
    asked.stream.on("error", () => {});
    if (asked.name === "sync.collect") await leave(asked.body as { agent: string }, files(given[0] ?? {}));
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
  const run = await client.read(ids);
  return { variables, frames: JSON.stringify(frames), status: run.status, run, ids, client, given };
}

/** As if it had come from the worker. */
async function leave({ agent }: { agent: string }, files: Record<string, string>): Promise<void> {
  const { db, settings } = server.platform;
  const { directory } = await db
    .selectFrom("agents")
    .select("directory")
    .where("id", "=", agent)
    .executeTakeFirstOrThrow();
  for (const [name, content] of Object.entries(files)) {
    const path = join(settings.dataDirectory, "workspaces", directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}

const envVars = { GIVEN: "with the request" };

test("a worker whose operator asked for nothing gets no secret of the dashboard and no token", async () => {
  for (const receives of [undefined, { secrets: false, githubToken: false }]) {
    const { variables, status } = await variablesOf(receives, { request: { envVars } });
    expect(status).toBe("FINISHED");
    expect(variables).toMatchObject(envVars);
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

test("files with the token are not kept as artifacts and not pushed, nor by a later run, which does not get that token", async () => {
  const { given, client, run, ids } = await variablesOf(
    { githubToken: true },
    {
      files: ({ GH_TOKEN = "" }) => ({
        ".artifacts/token.txt": `it is ${GH_TOKEN}`,
        ".artifacts/encoded.txt": Buffer.from(GH_TOKEN).toString("base64"),
        ".artifacts/report.txt": "all is well",
        "shop/settings.txt": GH_TOKEN,
      }),
    },
  );
  const secret = { reason: "secret", message: expect.stringContaining("GH_TOKEN") };
  const paths = ["artifacts/encoded.txt", "artifacts/token.txt"];
  const left = { unsavedArtifacts: paths.map((path) => ({ path, ...secret })) };
  expect(run).toMatchObject({
    status: "ERROR",
    error: { code: "secret_in_commit", message: expect.stringContaining("GH_TOKEN is in settings.txt") },
    ...left,
  });
  const { body } = await server.call(account, "GET", `/v1/agents/${ids.agentId}/artifacts`);
  expect(body).toMatchObject({ items: [{ path: "artifacts/report.txt" }] });
  // It has no token of its own.
  const next = await client.followUp(ids.agentId, { prompt: { text: "run ls" }, mode: "plan" });
  expect(await client.waitForRun(next)).toMatchObject({ status: "FINISHED", ...left });
  expect(given.length).toBeGreaterThan(1);
  expect(given.at(-1)).not.toHaveProperty("GH_TOKEN");
});

test("a run that only reads gets no token", async () => {
  const { variables, status } = await variablesOf({ githubToken: true }, { request: { mode: "plan", envVars } });
  expect(status).toBe("FINISHED");
  expect(variables).toMatchObject(envVars);
  expect(variables).not.toHaveProperty("GH_TOKEN");
});
