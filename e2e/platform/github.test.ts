// The built platform with a fake GitHub: from a prompt to a draft pull request whose commits plain git verifies.

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { replyWith } from "@agentcli/testkit";
import { type FakeGithub, startGithub } from "@agentcli/testkit/github";
import { openPlatform, type PlatformClient, type PlatformHarness } from "@agentcli/testkit/platform";
import { afterAll, beforeAll, expect, test } from "vitest";

const home = mkdtempSync(join(tmpdir(), "platform-github-"));
let fake: FakeGithub;
let harness: PlatformHarness;
let client: PlatformClient;

beforeAll(async () => {
  fake = await startGithub();
  const keyFile = join(home, "app.pem");
  writeFileSync(keyFile, fake.app.privateKey, { mode: 0o600 });
  const host = fake.url.replace("http://", "");
  harness = await openPlatform({
    replies: {
      replies: [
        { ...replyWith("Wrote it down."), when: { bodyIncludes: "call_write" } },
        { calls: [{ name: "exec_command", arguments: { cmd: "echo new > new.txt" }, callId: "call_write" }] },
      ],
      repeat: "always",
    },
    env: {
      PLATFORM_NETWORK_ALLOW_PRIVATE: "127.0.0.0/8",
      PLATFORM_SOURCE_HOSTS_BLOCKED: `${host}/acme/secret`,
      PLATFORM_SOURCE_HOSTS_PROTECTED: JSON.stringify({ [`${host}/locked`]: ["others"] }),
      PLATFORM_SOURCE_HOSTS_GITHUB_BASE_URL: fake.apiUrl,
      PLATFORM_SOURCE_HOSTS_GITHUB_APP_ID: fake.app.id,
      PLATFORM_SOURCE_HOSTS_GITHUB_PRIVATE_KEY_FILE: keyFile,
    },
  });
  client = await harness.client(await harness.serve());
});
afterAll(async () => {
  await harness.close();
  await fake.close();
  rmSync(home, { recursive: true });
});

test("a prompt becomes a draft pull request with a commit that the published key verifies", async () => {
  const shop = await fake.addRepository("acme/shop", { collaborators: ["ada"] });
  await harness.database.query(
    "insert into source_accounts (user_id, host, account_id, login) select id, $1, '1', 'ada' from users",
    [new URL(fake.url).host],
  );
  const repos = [{ url: `${fake.url}/acme/shop` }];
  const ids = await client.create({ prompt: { text: "write" }, repos, autoCreatePR: true });
  await client.stream(ids);
  const prUrl = `${fake.url}/acme/shop/pull/1`;
  expect(await client.read(ids)).toMatchObject({ status: "FINISHED", git: { branches: [{ prUrl }] } });
  expect(shop.pulls).toMatchObject([{ isDraft: true, author: "platform-app[bot]", requests: [["ada"]] }]);
  const published = await (await fetch(`${client.url}/.well-known/platform-signing-key`)).text();
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
  expect(fake.violations).toEqual([]);
});

test("blocked repositories, and those protected for another team, are refused when an agent is created", async () => {
  for (const name of ["acme/secret", "locked/shop"]) {
    const repos = [{ url: `${fake.url}/${name}` }];
    const { status, body } = await client.send("POST", "/v1/agents", { prompt: { text: "x" }, repos });
    expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: "repository_access" } } });
  }
});

test("the command prints the key that the server publishes", async () => {
  const stdout = await harness.output("signing-key");
  expect(stdout).toBe(await (await fetch(`${client.url}/.well-known/platform-signing-key`)).text());
});
