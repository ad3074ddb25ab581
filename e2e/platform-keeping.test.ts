// Looking after a platform: backup and restore, a new key, the audit log, users and teams, with the built program.
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { cloudDesk } from "./cloud-desk.ts";
import { type PlatformDesk, platformDesk } from "./platform-harness.ts";

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

/** All that clients see, the address of the server apart. */
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

const succeed = async (desk: PlatformDesk, ...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await desk.run(args);
  if (code !== 0) throw new Error(`platform ${args.join(" ")} failed: ${stderr}`);
  return stdout;
};

test("backed up while it runs and restored into an empty directory, every agent, stream and pull request is back, and agents go on", async () => {
  const desk = await cloudDesk();
  const source = { url: desk.url, key: desk.key };
  const agentId = await desk.agent(prompt, "--pr");
  await ask(source, "/git/sample/pulls/1/comments", { body: "Well done" });
  await settled(source, agentId);
  const folder = join(desk.clone, "..");
  const [file, secret] = [join(folder, "backup"), join(folder, "passphrase")];
  writeFileSync(secret, "correct horse battery staple\n");
  const before = await everything(source, agentId);
  expect(await succeed(desk.platform, "backup", file, "--passphrase-file", secret)).toMatch(/\d+ tables, \d+ files/);
  const elsewhere = await platformDesk("embedded");
  await succeed(elsewhere, "restore", file, "--passphrase-file", secret);
  rmSync(desk.platform.data, { recursive: true });
  const restored = { url: (await elsewhere.serve()).url, key: desk.key };
  expect(await everything(restored, agentId)).toEqual(before);
  const clone = join(folder, "second");
  await execute("git", [
    "clone",
    "--quiet",
    `${restored.url.replace("://", `://user:${desk.key}@`)}/git/sample.git`,
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
}, 180_000);

test("the audit log tells who did what, and says where it was changed", async () => {
  const desk = await platformDesk();
  const key = await desk.key();
  const server = await desk.serve();
  const made = await ask({ url: server.url, key }, "/v1/agents", { prompt: { text: "say hello" } });
  const { agent } = JSON.parse(made.text);
  await settled({ url: server.url, key }, agent.id);
  await server.stop();
  const whole = await succeed(desk, "audit", "verify");
  const [, kept = ""] = /head (\S+)/.exec(whole) ?? [];
  const exported = await succeed(desk, "audit", "export");
  const entries = exported
    .trim()
    .split("\n")
    .flatMap((line) => JSON.parse(line).entry ?? [])
    .map((entry) => JSON.parse(entry));
  const told = entries.map(({ actor, action }) => `${actor} ${action}`);
  expect(told).toContain("operator api_key.created");
  expect(told).toContain("user:1 agent.created");
  expect(told.at(-1)).toBe("platform run.changed");
  expect(exported).not.toContain("say hello");
  const file = join(desk.data, "..", "audit.jsonl");
  writeFileSync(file, exported);
  expect(await succeed(desk, "audit", "verify", file, "--expect", kept)).toBe(whole);
  writeFileSync(file, exported.replace("user:1", "user:2"));
  expect(await desk.run(["audit", "verify", file])).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^BROKEN at entry \d+: the entry, its hash or the one before was changed/),
  });
  expect(
    await desk.run(["audit", "verify", "--expect", kept.replace(/.$/, (last) => (last === "0" ? "1" : "0"))]),
  ).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("the log was another when its head was kept"),
  });
});

test("a new key-encryption key is taken by the next server, and refused while one runs", async () => {
  const desk = await platformDesk("embedded");
  const key = await desk.key();
  const before = readFileSync(join(desk.data, "kek"), "utf8");
  const first = await desk.serve();
  expect(await desk.run(["rotate-kek"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Stop all servers"),
  });
  await first.stop();
  expect(await succeed(desk, "rotate-kek")).toMatch(/^1 data keys are wrapped with a new key/);
  expect(readFileSync(join(desk.data, "kek"), "utf8")).not.toBe(before);
  const { url } = await desk.serve();
  expect((await ask({ url, key }, "/v1/agents", { prompt: { text: "say hello" } })).status).toBe(200);
});

test("users and teams are made, limited and listed", async () => {
  const desk = await platformDesk();
  await succeed(desk, "teams", "create", "red");
  expect(await succeed(desk, "users", "create", "ada@example.com", "--team", "red")).toBe(
    "ada@example.com  red  admin  no limit\n",
  );
  await succeed(desk, "users", "create", "bob@example.com", "--team", "red");
  await succeed(desk, "users", "set", "bob@example.com", "--user-role", "admin", "--spend-limit", "250");
  await succeed(desk, "teams", "set", "red", "--spend-limit", "1000");
  expect(JSON.parse(await succeed(desk, "users", "list", "--team", "red", "--json"))).toMatchObject([
    { email: "ada@example.com", role: "admin", spendLimitUsd: null },
    { email: "bob@example.com", role: "admin", spendLimitUsd: 250 },
  ]);
  expect(await succeed(desk, "teams", "list")).toBe("red  2 users  1000 USD a month  follow-ups: disabled\n");
  expect(await succeed(desk, "teams", "set", "red", "--follow-ups", "service-accounts")).toContain(
    "follow-ups: service-accounts\n",
  );
});

test.each([
  [["users", "create", "nobody"], '"nobody" is no e-mail address'],
  [["users", "set", "a@b"], "Set what?"],
  [["teams", "set", "red"], "Set what?"],
  [["teams", "set", "red", "--follow-ups", "everybody"], "is none of disabled, service-accounts, all"],
  [["users", "set", "a@b", "--user-role", "king"], 'There is no role "king"'],
  [["users", "set", "a@b", "--user-role", "admin"], "There is no user a@b"],
  [["teams", "set", "x", "--spend-limit", "much"], "--spend-limit much is no amount"],
  [["backup"], "Where to?"],
  [["restore", "/nowhere/backup"], "There is no file"],
  [["audit", "verify", "--expect", "x"], "--expect x is no head"],
])("%j ends with 2 and a sentence", async (args, sentence) => {
  const desk = await platformDesk();
  const { code, stderr } = await desk.run(args);
  expect(stderr).toContain(sentence);
  expect(code).toBe(2);
});
