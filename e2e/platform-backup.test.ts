// Backups under hostile conditions: taken while many work, cut off by kill -9, restored and gone on with.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { eventually } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { clientOf } from "./platform-client.ts";
import { type PlatformDesk, platformDesk } from "./platform-harness.ts";
import { scriptedPlatform } from "./platform-scripted.ts";

const execute = promisify(execFile);
const program = fileURLToPath(new URL("../packages/platform/bin/platform.mjs", import.meta.url));
const sealed = (desk: PlatformDesk): string[] => {
  const secret = join(desk.data, "../passphrase");
  writeFileSync(secret, "correct horse battery staple\n");
  return ["--passphrase-file", secret];
};

/** Ended by SIGKILL as soon as the condition holds. */
async function killed(desk: PlatformDesk, args: string[], when: () => boolean): Promise<void> {
  const child = start(desk, args);
  await eventually(() => when() || child.exitCode !== null, { everyMs: 1 });
  child.kill("SIGKILL");
  await once(child, "close");
  expect(child.signalCode, `${args[0]} was done before it could be killed`).toBe("SIGKILL");
}

function start({ data, database }: PlatformDesk, args: string[]): ChildProcess {
  const { PATH = "" } = process.env;
  const env = { PATH, HOME: join(data, ".."), PLATFORM_DATA: data, DATABASE_URL: database?.url };
  return spawn(process.execPath, [program, ...args], { env, stdio: "ignore" });
}

/** Large enough to be in the middle of for a while. */
const fill = (directory: string) => {
  mkdirSync(directory, { recursive: true });
  for (let file = 0; file < 60; file++) writeFileSync(join(directory, `filler-${file}`), randomBytes(1024 * 1024));
};

test("a backup that was cut off is none, one restore that was cut off is no platform, and both can be done again", async () => {
  const desk = await platformDesk();
  await desk.key();
  fill(join(desk.data, "artifacts/a"));
  const folder = join(desk.data, "..");
  const file = join(folder, "backup");
  const secret = sealed(desk);
  const drafts = () => readdirSync(folder).filter((name) => name.startsWith("backup."));
  await killed(desk, ["backup", file, ...secret], () => drafts().length > 0);
  expect(existsSync(file)).toBe(false);
  expect(await desk.run(["backup", file, ...secret])).toMatchObject({ code: 0 });

  const place = await platformDesk();
  const placed = join(place.data, "artifacts/a/filler-0");
  await killed(place, ["restore", file, ...secret], () => existsSync(placed));
  for (const args of [
    ["serve", "--listen", "127.0.0.1:0"],
    ["restore", file, ...secret],
  ])
    expect(await place.run(args)).toMatchObject({ code: 1, stderr: expect.stringContaining("was cut off") });
  const another = await platformDesk();
  expect(await another.run(["restore", file, ...secret])).toMatchObject({ code: 0 });
  expect((await another.run(["audit", "verify"])).stdout).toMatch(/^whole/);
  await another.serve();
});

test("taken while twenty agents work and push, restored elsewhere: all of them finish there, and nothing is told twice", async () => {
  const told: { id: string; url: string }[] = [];
  const receiver = createServer((request, response) => {
    told.push({ id: String(request.headers["x-webhook-id"]), url: request.url ?? "" });
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
  const platform = await scriptedPlatform({ env, replies: { replies, repeat: "always" } });
  const client = await platform.client();
  const repos = [{ url: await platform.repository("sample", { "README.md": "# Sample\n" }) }];
  const first = await client.create("first", { repos, autoCreatePR: true, webhook: { url: `${hook}/first` } });
  await client.ended(first);
  await eventually(() => told.length === 1);
  const stream = await client.stream(first);
  const made = await Promise.all(Array.from({ length: 20 }, (_, index) => client.create(`agent ${index}`, { repos })));
  await eventually(
    async () => /"status":"FINISHED"/.test((await client.get(`/v1/agents/${made[0]?.agentId}/runs`)).text),
    { limitMs: 120_000 },
  );
  const file = join(platform.desk.data, "../backup");
  const secret = sealed(platform.desk);
  expect(await platform.desk.run(["backup", file, ...secret])).toMatchObject({ code: 0 });
  await platform.server.stop("SIGKILL");

  const elsewhere = await platformDesk();
  expect(await elsewhere.run(["restore", file, ...secret])).toMatchObject({ code: 0 });
  const repositories = join(elsewhere.data, "repositories");
  const found = await execute("find", [repositories, "-name", "HEAD", "-maxdepth", "3"]);
  await execute("git", ["--git-dir", found.stdout.trim().replace(/\/HEAD$/, ""), "fsck", "--full"]);
  const { url } = await elsewhere.serve([], platform.settings);
  const again = clientOf(url, client.key);
  expect(await again.stream(first)).toBe(stream);
  for (const ids of made) expect(await again.ended(ids)).toMatchObject({ status: "FINISHED", result: "Done." });
  expect(await again.ended(await again.followUp(first.agentId, "more"))).toMatchObject({ status: "FINISHED" });
  await eventually(() => told.length === 2);
  expect(new Set(told.map(({ id }) => id)).size).toBe(2);
  expect((await elsewhere.run(["audit", "verify"])).stdout).toMatch(/^whole/);
}, 240_000);
