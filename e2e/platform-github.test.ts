// The built platform with a pretended GitHub: from a prompt to a draft pull request whose commits plain git verifies.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { say } from "@agentcli/testkit";
import { type FakeGithub, startGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PlatformDesk, platformDesk } from "./platform-desk.ts";

const home = mkdtempSync(join(tmpdir(), "platform-github-"));
let fake: FakeGithub;
let desk: PlatformDesk;

beforeAll(async () => {
  fake = await startGithub();
  const keyFile = join(home, "app.pem");
  writeFileSync(keyFile, fake.app.privateKey, { mode: 0o600 });
  const host = fake.url.replace("http://", "");
  desk = await platformDesk({
    replies: {
      replies: [
        { ...say("Wrote it down."), when: { bodyIncludes: "call_write" } },
        { calls: [{ name: "exec_command", arguments: { cmd: "echo new > new.txt" }, callId: "call_write" }] },
      ],
      repeat: "always",
    },
    config: `network = { allow_private = ["127.0.0.0/8"] }
source_hosts.blocked = ["${host}/acme/secret"]
source_hosts.protected = { "${host}/locked" = ["others"] }
source_hosts.github = { base_url = "${fake.apiUrl}", app_id = "${fake.app.id}", private_key_file = "${keyFile}" }
`,
  });
  await desk.start();
});
afterAll(async () => {
  await desk.close();
  await fake.close();
  rmSync(home, { recursive: true });
});

test("a prompt becomes a draft pull request with a commit that the published key verifies", async () => {
  const shop = await fake.addRepository("acme/shop", { collaborators: ["ada"] });
  const { db } = desk.database;
  const user = await db.selectFrom("users").select("id").executeTakeFirstOrThrow();
  const account = { user_id: user.id, host: new URL(fake.url).host, account_id: "1", login: "ada" };
  await db.insertInto("source_accounts").values(account).execute();
  const repos = [{ url: `${fake.url}/acme/shop` }];
  const ids = await desk.client.create({ prompt: { text: "write" }, repos, autoCreatePR: true });
  await desk.client.stream(ids);
  const prUrl = `${fake.url}/acme/shop/pull/1`;
  expect(await desk.client.read(ids)).toMatchObject({ status: "FINISHED", git: { branches: [{ prUrl }] } });
  expect(shop.pulls).toMatchObject([{ isDraft: true, author: "platform-app[bot]", requests: [["ada"]] }]);
  const published = await (await fetch(`${desk.urls.first}/.well-known/platform-signing-key`)).text();
  const signers = join(home, "signers");
  writeFileSync(signers, `agent@platform.invalid ${published}`);
  const { stdout } = await promisify(execFile)("git", [
    "-C",
    shop.directory,
    "-c",
    `gpg.ssh.allowedSignersFile=${signers}`,
    "log",
    "-1",
    "--show-signature",
    shop.pulls[0]?.head ?? "",
  ]);
  expect(stdout).toContain('Good "git" signature for agent@platform.invalid with ED25519 key');
  expect(fake.complaints).toEqual([]);
});

test("repositories that are excluded or kept for another team are refused when an agent is created", async () => {
  for (const name of ["acme/secret", "locked/shop"]) {
    const repos = [{ url: `${fake.url}/${name}` }];
    const { status, body } = await desk.client.send("POST", "/v1/agents", { prompt: { text: "x" }, repos });
    expect([status, JSON.parse(body.toString()).error.code]).toEqual([400, "repository_access"]);
  }
});

test("the command prints the key that the server publishes", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    join(import.meta.dirname, "../packages/platform/bin/platform.mjs"),
    "signing-key",
    "--data",
    desk.data,
  ]);
  expect(stdout).toBe(await (await fetch(`${desk.urls.first}/.well-known/platform-signing-key`)).text());
});
