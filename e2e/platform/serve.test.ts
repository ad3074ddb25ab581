// The platform as a program: commands, servers, and their exit.

import { readFileSync, statSync } from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { eventually } from "@agentcli/testkit";
import { embeddedPostgres, openPlatformForFile, openPlatformForTest } from "@agentcli/testkit/platform";
import { expect, test } from "vitest";

const me = (url: string, key: string) => fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${key}` } });

/** For commands that change nothing. */
const shared = openPlatformForFile();

test("a key created without a server is valid on one, with Basic and Bearer, until it is revoked", async () => {
  const harness = await openPlatformForTest();
  const key = await harness.key();
  const { url } = await harness.serve();
  expect(await (await me(url, key)).json()).toEqual({
    apiKeyName: "test",
    createdAt: expect.any(String),
    userId: 1,
    userEmail: "admin@localhost",
  });
  const basic = { authorization: `Basic ${btoa(`${key}:`)}` };
  const models = await fetch(`${url}/v1/models`, { headers: basic });
  expect(await models.json()).toMatchObject({ items: [{ id: "practice" }] });
  const account = await harness.key("--service-account");
  expect(await (await me(url, account)).json()).toEqual({ apiKeyName: "test", createdAt: expect.any(String) });
  const { stdout } = await harness.run(["keys", "list"]);
  expect(stdout).toContain(key.slice(0, 16));
  expect(stdout).not.toContain(key.slice(-64));
  expect((await harness.run(["keys", "revoke", key.slice(4, 16)])).stdout).toMatch(/^revoked /);
  await eventually(async () => (await me(url, key)).status === 401);
});

test("the configured model is listed first", async () => {
  const harness = await openPlatformForTest();
  const key = await harness.key();
  const { url } = await harness.serve({ env: { PLATFORM_MODEL: "gpt-5", PLATFORM_MODELS: "gpt-5-mini" } });
  const answer = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  expect(await answer.json()).toMatchObject({ items: [{ id: "gpt-5" }, { id: "gpt-5-mini" }, { id: "practice" }] });
});

test("SIGTERM ends it with 0, removes server.json and leaves nothing running", async () => {
  const harness = await openPlatformForTest({ database: "embedded" });
  const server = await harness.serve();
  expect(JSON.parse(readFileSync(join(harness.data, "server.json"), "utf8"))).toEqual({
    servers: [{ url: server.url, pid: server.child.pid, roles: ["api", "runner", "scheduler", "gateway"] }],
  });
  expect(await server.stop("SIGTERM")).toEqual({ code: 0, signal: null });
  expect(embeddedPostgres(harness.data)).toBeNull();
  expect(statSync(join(harness.data, "server.json"), { throwIfNoEntry: false })).toBeUndefined();
});

test("two servers share a data directory, and the second continues when the first ends", async () => {
  const harness = await openPlatformForTest({ database: "embedded" });
  const [first, second] = await Promise.all([harness.serve(), harness.serve()]);
  const key = await harness.key();
  expect([(await me(first.url, key)).status, (await me(second.url, key)).status]).toEqual([200, 200]);
  await first.stop();
  expect((await me(second.url, key)).status).toBe(200);
  await second.stop();
  expect(embeddedPostgres(harness.data)).toBeNull();
});

test("killed together with its database, it starts again with the same node id", async () => {
  const harness = await openPlatformForTest({ database: "embedded" });
  const first = await harness.serve();
  const key = await harness.key();
  process.kill(embeddedPostgres(harness.data) ?? expect.fail("no database"), "SIGKILL");
  await first.stop("SIGKILL");
  const second = await harness.serve();
  expect((await me(second.url, key)).status).toBe(200);
  expect(nodeIdOf(second.log())).toBe(nodeIdOf(first.log()));
});

test("without its database it is not ready, and ready again once the database is back", async () => {
  const harness = await openPlatformForTest({ database: "embedded" });
  const server = await harness.serve();
  const key = await harness.key();
  const pid = embeddedPostgres(harness.data) ?? expect.fail("no database");
  process.kill(pid, "SIGKILL");
  await eventually(() => ![pid, null].includes(embeddedPostgres(harness.data)));
  await eventually(async () => (await fetch(`${server.url}/readyz`)).status === 200);
  expect((await me(server.url, key)).status).toBe(200);
});

test("with another key-encryption key it does not start, with a reason", async () => {
  const harness = await openPlatformForTest({ database: "embedded" });
  await harness.key();
  const { code, stderr } = await harness.run(["serve"], { PLATFORM_KEK_FILE: join(harness.data, "other") });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^ERROR: The key file .*other is missing, and the database was sealed with it/);
  expect(embeddedPostgres(harness.data)).toBeNull();
});

test("a port in use is named", async () => {
  const harness = await openPlatformForTest();
  const { url } = await harness.serve();
  const { code, stderr } = await harness.run(["serve", "--listen", new URL(url).host]);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^ERROR: Cannot listen on 127\.0\.0\.1:\d+: the address is in use, .* with --listen or PLATFORM_LISTEN\.$/m,
  );
});

test("it serves over TLS", async () => {
  const harness = await openPlatformForTest();
  const [cert, key] = ["tls-cert.pem", "tls-key.pem"].map((name) => join(import.meta.dirname, "fixtures", name));
  const { url } = await harness.serve({ args: ["--tls-cert", cert ?? "", "--tls-key", key ?? ""] });
  expect(url).toMatch(/^https:/);
  const answer = await new Promise<string>((resolve, reject) =>
    get(`${url}/healthz`, { ca: readFileSync(cert ?? "") }, (response) => resolve(text(response))).on("error", reject),
  );
  expect(answer).toBe('{"status":"ok"}');
});

test("doctor shows settings with their origins and its findings, and changes nothing", async () => {
  const harness = await openPlatformForTest({ database: "embedded" });
  const before = await harness.run(["doctor"]);
  expect(before).toMatchObject({ code: 0, stdout: expect.stringContaining("will be created in") });
  expect(statSync(harness.data, { throwIfNoEntry: false })).toBeUndefined();
  await harness.key();
  const { stdout } = await harness.run(["doctor", "--listen", "127.0.0.1:1", "--json"]);
  const { settings, findings } = JSON.parse(stdout);
  expect(settings).toContainEqual({ name: "listen", value: "127.0.0.1:1", origin: "--listen" });
  expect(findings).toContainEqual(expect.objectContaining({ subject: "database", verdict: "fine" }));
  const textOf = (subject: string) =>
    findings.find((finding: { subject: string }) => finding.subject === subject)?.text;
  expect(textOf("sandbox")).toContain("user");
  expect(textOf("limits")).toMatch(/memory 4 GiB \(.*\), processes 4096 \(.*\), \/tmp 2 GiB, files of an agent 20 GiB/);
  const wrong = await harness.run(["doctor"], { PLATFORM_MODEL: "gpt-5", PATH: "/nowhere" });
  expect(wrong.code).toBe(1);
  expect(wrong.stdout).toMatch(
    /FAIL git: git could not be started.*\nFAIL model: gpt-5 at openai needs a key. Set AGENT_API_KEY/,
  );
});

test.each([
  [["sevre"], 'There is no command "sevre". Did you mean serve?'],
  [["keys"], "Incomplete command: platform keys. Choose one of: platform keys create"],
  [["keys", "create"], "A key needs a name"],
  [["keys", "create", "--name", "x", "--scopes", "agents:red"], 'There is no scope "agents:red"'],
  [["keys", "create", "--name", "x", "--expires", "yesterday"], "--expires yesterday is not a time or duration"],
  [["keys", "create", "--name", "x", "--expires", "2001-01-01"], "--expires 2001-01-01 is in the past"],
  [["keys", "revoke"], "Missing or invalid key id"],
  [["serve", "--lisen", "x"], "Unknown flag --lisen. Did you mean --listen?"],
  [["serve", "--name", "x"], "--name is not a flag of platform serve"],
  [["serve", "--listen"], "--listen needs a value"],
  [["serve", "here"], 'platform serve does not take "here"'],
  [["serve", "--config", "/nowhere.toml"], "/nowhere.toml cannot be read"],
])("%j ends with 2 and a message", async (args, sentence) => {
  const { code, stdout, stderr } = await shared().run(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(`ERROR: ${sentence.startsWith("/") ? "The configuration " : ""}${sentence}`);
});

const nodeIdOf = (log: string[]): string =>
  log.map((line) => JSON.parse(line)).find(({ event }) => event === "server.ready").nodeId;

test("a server on a public address without TLS, or with the practice model at a public URL, does not start", async () => {
  const open = await shared().run(["serve"], { PLATFORM_LISTEN: "0.0.0.0:0" });
  expect(open).toMatchObject({ code: 2, stderr: expect.stringContaining("rate_limits.trusted_proxies") });
  const practising = await shared().run(["serve"], { PLATFORM_PUBLIC_URL: "https://platform.example.com" });
  expect(practising).toMatchObject({ code: 2, stderr: expect.stringContaining("practice model") });
});
