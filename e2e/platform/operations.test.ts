// Operations with the built program: backup and restore, key rotation, the audit log, users and teams.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "@agentcli/testkit";
import { openPlatformForFile, openPlatformForTest, type PlatformHarness } from "@agentcli/testkit/platform";
import { expect, test } from "vitest";
import { openCloudHarness } from "../support/cloud-harness.ts";

const execute = promisify(execFile);
const prompt = "Fix the failing test";

interface Server {
  url: string;
  key: string;
}

async function ask({ url, key }: Server, path: string, body?: unknown) {
  const answer = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text() };
}

/** All data that clients can read, without the URL of the server. */
async function everything(server: Server, agentId: string): Promise<Record<string, string>> {
  const runs = JSON.parse((await ask(server, `/v1/agents/${agentId}/runs`)).text).items;
  const streams = runs.map(({ id }: { id: string }) => `/v1/agents/${agentId}/runs/${id}/stream`);
  const pull = "/git/sample/pulls/1";
  const paths = ["/v1/agents", `/v1/agents/${agentId}`, `/v1/agents/${agentId}/runs`, `/v1/agents/${agentId}/diff`];
  const seen: Record<string, string> = {};
  for (const path of [...paths, ...streams, pull, `${pull}/diff`, `${pull}/comments`, "/v1/repositories"])
    seen[path] = (await ask(server, path)).text.replace(/127\.0\.0\.1:\d+/g, "HOST");
  return seen;
}

const settled = (server: Server, agentId: string) =>
  eventually(async () => JSON.parse((await ask(server, `/v1/agents/${agentId}`)).text).status === "IDLE");

const succeed = async (harness: PlatformHarness, ...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await harness.run(args);
  if (code !== 0) throw new Error(`platform ${args.join(" ")} failed: ${stderr}`);
  return stdout;
};

test("a backup of a running platform restores every agent, stream and pull request, and agents continue", async () => {
  const harness = await openCloudHarness();
  const source = { url: harness.url, key: harness.key };
  const agentId = await harness.agent(prompt, "--pr");
  await ask(source, "/git/sample/pulls/1/comments", { body: "Well done" });
  await settled(source, agentId);
  const folder = join(harness.clone, "..");
  const [file, secret] = [join(folder, "backup"), join(folder, "passphrase")];
  writeFileSync(secret, "correct horse battery staple\n");
  const before = await everything(source, agentId);
  expect(await succeed(harness.platform, "backup", file, "--passphrase-file", secret)).toMatch(/\d+ tables, \d+ files/);
  const elsewhere = await openPlatformForTest({ database: "embedded" });
  await succeed(elsewhere, "restore", file, "--passphrase-file", secret);
  // Its server still writes there: a removal could meet new files.
  renameSync(harness.platform.data, `${harness.platform.data}.gone`);
  const restored = { url: (await elsewhere.serve()).url, key: harness.key };
  expect(await everything(restored, agentId)).toEqual(before);
  const clone = join(folder, "second");
  await execute("git", [
    "clone",
    "--quiet",
    `${restored.url.replace("://", `://user:${harness.key}@`)}/git/sample.git`,
    clone,
  ]);
  const followUp = { prompt: { text: "create notes.txt containing afterwards" } };
  expect((await ask(restored, `/v1/agents/${agentId}/runs`, followUp)).status).toBe(200);
  await settled(restored, agentId);
  const diff = JSON.parse((await ask(restored, `/v1/agents/${agentId}/diff`)).text).items[0].patch;
  expect(diff).toContain("paging.js");
  expect(diff).toContain("notes.txt");
  expect((await ask(restored, "/git/sample/pulls/1/diff")).text).toContain("notes.txt");
  expect(await succeed(elsewhere, "audit", "verify")).toMatch(/^whole: \d+ entries/);
});

test("the audit log records actions with their actors, and verify finds a manipulated entry", async () => {
  const harness = await openPlatformForTest();
  const key = await harness.key();
  const server = await harness.serve();
  const made = await ask({ url: server.url, key }, "/v1/agents", { prompt: { text: "say hello" } });
  const { agent } = JSON.parse(made.text);
  await settled({ url: server.url, key }, agent.id);
  await server.stop();
  const whole = await succeed(harness, "audit", "verify");
  const [, kept = ""] = /head (\S+)/.exec(whole) ?? [];
  const exported = await succeed(harness, "audit", "export");
  const entries = exported
    .trim()
    .split("\n")
    .flatMap((line) => JSON.parse(line).entry ?? [])
    .map((entry) => JSON.parse(entry));
  const actions = entries.map(({ actor, action }) => `${actor} ${action}`);
  expect(actions).toContain("operator api_key.created");
  expect(actions).toContain("user:1 agent.created");
  expect(actions.at(-1)).toBe("platform run.changed");
  expect(exported).not.toContain("say hello");
  const file = join(harness.data, "..", "audit.jsonl");
  writeFileSync(file, exported);
  expect(await succeed(harness, "audit", "verify", file, "--expect", kept)).toBe(whole);
  writeFileSync(file, exported.replace("user:1", "user:2"));
  expect(await harness.run(["audit", "verify", file])).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^BROKEN at entry \d+: the entry, its hash or the previous hash was changed/),
  });
  expect(
    await harness.run(["audit", "verify", "--expect", kept.replace(/.$/, (last) => (last === "0" ? "1" : "0"))]),
  ).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("the log differs from the head recorded earlier"),
  });
});

/** As an attacker who can write to the database leaves it: all hashes match again. */
async function rewriteLog({ database }: PlatformHarness): Promise<void> {
  const rows = await database.query<{ seq: string; entry: string }>(
    "select seq, entry from audit_entries order by seq",
  );
  await database.query("alter table audit_entries disable trigger only_added_to");
  let hash = createHash("sha256").update("platform audit log").digest();
  for (const { seq, entry: original } of rows) {
    const entry = original.replace('"operator"', '"intruder"');
    hash = createHash("sha256").update(hash).update(entry).digest();
    await database.query("update audit_entries set entry = $1, hash = $2 where seq = $3", [entry, hash, seq]);
  }
  await database.query("update audit_head set hash = $1", [hash]);
  await database.query("alter table audit_entries enable trigger only_added_to");
}

test("an audit log that was rewritten before the backup does not verify after the restore, nor when a server has run", async () => {
  const harness = await openPlatformForTest();
  await harness.key();
  const [file, secret] = [join(harness.directory, "backup"), join(harness.directory, "passphrase")];
  writeFileSync(secret, "correct horse battery staple\n");
  await rewriteLog(harness);
  await succeed(harness, "backup", file, "--passphrase-file", secret);
  const elsewhere = await openPlatformForTest();
  expect(await elsewhere.run(["restore", file, "--passphrase-file", secret])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("audit.tampered"),
  });
  const broken = { code: 1, stdout: expect.stringMatching(/^BROKEN at entry \d+: the log differs from the head/) };
  expect(await elsewhere.run(["audit", "verify"])).toMatchObject(broken);
  await (await elsewhere.serve()).stop();
  expect(await elsewhere.run(["audit", "verify"])).toMatchObject(broken);
});

test("verify names the entries that it cannot prove and fails, until a head that was kept elsewhere proves them", async () => {
  const harness = await openPlatformForTest();
  await harness.key();
  const whole = await succeed(harness, "audit", "verify");
  const [, kept = "", last = ""] = /head ((\d+):\S+)/.exec(whole) ?? [];
  const exported = join(harness.directory, "audit.jsonl");
  writeFileSync(exported, await succeed(harness, "audit", "export"));
  const unproved = (reason: string) => ({
    code: 1,
    stdout: expect.stringMatching(new RegExp(`^UNPROVED: entries 1 to ${last} of \\d+: ${reason}.*\n$`)),
  });
  expect(await harness.run(["audit", "verify", exported])).toMatchObject(unproved("a file proves only"));
  expect(await harness.run(["audit", "verify", exported, "--expect", kept])).toMatchObject({ code: 0, stdout: whole });
  rmSync(join(harness.data, "audit-head"));
  expect(await harness.run(["audit", "verify"])).toMatchObject(unproved("there is no audit-head"));
  await (await harness.serve()).stop();
  expect(await harness.run(["audit", "verify"])).toMatchObject(unproved("audit-head was begun after them"));
  expect(await harness.run(["audit", "verify", "--expect", kept])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^whole/),
  });
});

test("a new key-encryption key is used by the next server, and rotation is refused while one runs", async () => {
  const harness = await openPlatformForTest({ database: "embedded" });
  const key = await harness.key();
  const before = readFileSync(join(harness.data, "kek"), "utf8");
  const first = await harness.serve();
  expect(await harness.run(["rotate-kek"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Stop all servers"),
  });
  await first.stop();
  expect(await succeed(harness, "rotate-kek")).toMatch(/^1 data keys are wrapped with a new key/);
  expect(readFileSync(join(harness.data, "kek"), "utf8")).not.toBe(before);
  const anchor = join(harness.data, "audit-head");
  const proved = readFileSync(anchor, "utf8");
  expect(await harness.run(["audit", "verify"])).toMatchObject({ code: 0, stderr: "" });
  writeFileSync(
    anchor,
    proved.replace(/^\d+/, (seq) => String(Number(seq) - 1)),
  );
  expect(await harness.run(["audit", "verify"])).toMatchObject({ code: 1, stdout: expect.stringMatching(/^BROKEN/) });
  writeFileSync(anchor, proved);
  const { url } = await harness.serve();
  expect((await ask({ url, key }, "/v1/agents", { prompt: { text: "say hello" } })).status).toBe(200);
});

test("users and teams are created, limited and listed", async () => {
  const harness = await openPlatformForTest();
  await succeed(harness, "teams", "create", "red");
  expect(await succeed(harness, "users", "create", "ada@example.com", "--team", "red")).toBe(
    "ada@example.com  red  admin  no limit\n",
  );
  await succeed(harness, "users", "create", "bob@example.com", "--team", "red");
  await succeed(harness, "users", "set", "bob@example.com", "--user-role", "admin", "--spend-limit", "250");
  await succeed(harness, "teams", "set", "red", "--spend-limit", "1000");
  expect(JSON.parse(await succeed(harness, "users", "list", "--team", "red", "--json"))).toMatchObject([
    { email: "ada@example.com", role: "admin", spendLimitUsd: null },
    { email: "bob@example.com", role: "admin", spendLimitUsd: 250 },
  ]);
  expect(await succeed(harness, "teams", "list")).toBe("red  2 users  1000 USD a month  follow-ups: disabled\n");
  expect(await succeed(harness, "teams", "set", "red", "--follow-ups", "service-accounts")).toContain(
    "follow-ups: service-accounts\n",
  );
});

/** For commands that change nothing. */
const shared = openPlatformForFile();

test.each([
  [["users", "create", "ada"], '"ada" is not an e-mail address'],
  [["users", "set", "a@b"], "Nothing to set"],
  [["teams", "set", "red"], "Nothing to set"],
  [
    ["teams", "set", "red", "--follow-ups", "any"],
    "Invalid --follow-ups any: expected disabled, service-accounts or all",
  ],
  [["users", "set", "a@b", "--user-role", "king"], 'Invalid role "king"'],
  [["users", "set", "a@b", "--user-role", "admin"], "There is no user a@b"],
  [["teams", "set", "x", "--spend-limit", "much"], "Invalid --spend-limit much"],
  [["backup"], "Missing file"],
  [["restore", "/nowhere/backup"], "There is no file"],
  [["audit", "verify", "--expect", "x"], "Invalid --expect x"],
])("%j ends with 2 and a message", async (args, sentence) => {
  const { code, stderr } = await shared().run(args);
  expect(stderr).toContain(sentence);
  expect(code).toBe(2);
});
