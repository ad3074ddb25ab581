// Backups under load and kill -9: taken while agents work, interrupted, restored and used.

import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "@agentcli/testkit";
import {
  openClient,
  openPlatformForTest,
  type PlatformHarness,
  servePlatformForTest,
} from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";

const execute = promisify(execFile);
const sealed = (harness: PlatformHarness): string[] => {
  const secret = join(harness.data, "../passphrase");
  writeFileSync(secret, "correct horse battery staple\n");
  return ["--passphrase-file", secret];
};

/** Killed by SIGKILL as soon as the condition holds. */
async function killed(harness: PlatformHarness, args: string[], when: () => boolean): Promise<void> {
  const child = harness.start(args);
  child.stderr?.resume();
  child.stdout?.resume();
  await eventually(() => when() || child.exitCode !== null, { intervalMs: 1 });
  child.kill("SIGKILL");
  await once(child, "close");
  expect(child.signalCode, `${args[0]} was done before it could be killed`).toBe("SIGKILL");
}

/** Large enough to take a while. */
const fill = (directory: string) => {
  mkdirSync(directory, { recursive: true });
  for (let file = 0; file < 60; file++) writeFileSync(join(directory, `filler-${file}`), randomBytes(1024 * 1024));
};

test("an interrupted backup leaves no file, an interrupted restore no platform, and both can be repeated", async () => {
  const harness = await openPlatformForTest();
  await harness.key();
  fill(join(harness.data, "artifacts/a"));
  const folder = join(harness.data, "..");
  const file = join(folder, "backup");
  const secret = sealed(harness);
  const drafts = () => readdirSync(folder).filter((name) => name.startsWith("backup."));
  await killed(harness, ["backup", file, ...secret], () => drafts().length > 0);
  expect(existsSync(file)).toBe(false);
  expect(await harness.run(["backup", file, ...secret])).toMatchObject({ code: 0 });

  const target = await openPlatformForTest();
  const placed = join(target.data, "artifacts/a/filler-0");
  await killed(target, ["restore", file, ...secret], () => existsSync(placed));
  for (const args of [
    ["serve", "--listen", "127.0.0.1:0"],
    ["restore", file, ...secret],
  ])
    expect(await target.run(args)).toMatchObject({ code: 1, stderr: expect.stringContaining("was interrupted") });
  const another = await openPlatformForTest();
  expect(await another.run(["restore", file, ...secret])).toMatchObject({ code: 0 });
  expect((await another.run(["audit", "verify"])).stdout).toMatch(/^whole/);
  await another.serve();
});

test("a backup taken while twenty agents work and push: all of them finish after the restore, and no webhook is sent twice", async () => {
  const deliveries: { id: string; url: string }[] = [];
  const receiver = createServer((request, response) => {
    deliveries.push({ id: String(request.headers["x-webhook-id"]), url: request.url ?? "" });
    response.end();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  onTestFinished(() => void receiver.close());
  const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const write = {
    calls: [{ name: "exec_command", arguments: { cmd: "date +%N > made.txt; sleep 0.5" }, callId: "made" }],
  };
  const env = { PLATFORM_NETWORK_ALLOW_PRIVATE: "127.0.0.0/8", PLATFORM_CONCURRENT_RUNS: "20" };
  const replies = [{ messages: ["Done."], when: { bodyIncludes: '"made"' } }, write];
  const platform = await servePlatformForTest({ env, replies: { replies, repeat: "always" } });
  const client = await platform.client();
  const repos = [{ url: await platform.repository("sample", { "README.md": "# Sample\n" }) }];
  const first = await client.create("first", { repos, autoCreatePR: true, webhook: { url: `${hook}/first` } });
  await client.waitForRun(first);
  await eventually(() => deliveries.length === 1);
  const stream = await client.streamText(first);
  const created = await Promise.all(
    Array.from({ length: 20 }, (_, index) => client.create(`agent ${index}`, { repos })),
  );
  await eventually(
    async () => /"status":"FINISHED"/.test((await client.get(`/v1/agents/${created[0]?.agentId}/runs`)).text),
    { timeoutMs: 120_000 },
  );
  const file = join(platform.harness.data, "../backup");
  const secret = sealed(platform.harness);
  expect(await platform.harness.run(["backup", file, ...secret])).toMatchObject({ code: 0 });
  await platform.server.stop("SIGKILL");

  const elsewhere = await openPlatformForTest();
  expect(await elsewhere.run(["restore", file, ...secret])).toMatchObject({ code: 0 });
  const repositories = join(elsewhere.data, "repositories");
  const found = await execute("find", [repositories, "-name", "HEAD", "-maxdepth", "3"]);
  await execute("git", ["--git-dir", found.stdout.trim().replace(/\/HEAD$/, ""), "fsck", "--full"]);
  const { url } = await elsewhere.serve({ env: { ...env, ...platform.harness.modelEnv } });
  const again = openClient(url, client.key);
  expect(await again.streamText(first)).toBe(stream);
  for (const ids of created) expect(await again.waitForRun(ids)).toMatchObject({ status: "FINISHED", result: "Done." });
  expect(await again.waitForRun(await again.followUp(first.agentId, "more"))).toMatchObject({ status: "FINISHED" });
  await eventually(() => deliveries.length === 2);
  expect(new Set(deliveries.map(({ id }) => id)).size).toBe(2);
  expect((await elsewhere.run(["audit", "verify"])).stdout).toMatch(/^whole/);
}, 240_000);
