// Restored backups are started: a server on one serves the agents of the old one, and continues their conversations.
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith, temporaryDirectory } from "@agentcli/testkit";
import { openClient } from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";
import { openPlatformContext } from "../../src/foundation/context.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { readKeyFile } from "../../src/foundation/vault/index.ts";
import { makeBackup, restoreBackup } from "../../src/operations/backup/index.ts";
import { findCredentials } from "../../src/repositories/credentials/store.ts";
import { serve } from "../../src/serve.ts";
import { emptyDatabase } from "../harness/database.ts";
import { newDataDirectory, openRunHarness } from "../runs/run-harness.ts";

test.each([
  ["with a passphrase", "correct horse battery staple"],
  ["without a passphrase, beside its key", null],
])("a server starts on a backup restored %s, and serves an agent of it", async (_how, passphrase) => {
  const replies = { replies: [replyWith("Before."), replyWith("After.")] };
  const { client, fixture, dataDirectory, stop } = await openRunHarness({ replies });
  const ids = await client.create("first");
  await client.waitForRun(ids);
  const credential = { host: "git.example.com", kind: "token", value: "restored-token" } as const;
  await client.send("PUT", "/v1/team/credentials", credential);
  const { settings, connection } = fixture.platform;
  const kek = readKeyFile(join(dataDirectory, "kek")) ?? expect.fail("no key");
  const target = newDataDirectory();
  rmSync(target, { recursive: true });
  const path = `${target}.backup`;
  onTestFinished(() => {
    for (const leftover of [target, path]) rmSync(leftover, { recursive: true, force: true });
  });
  const source = { connection, dataDirectory, kekFile: join(dataDirectory, "kek"), key: kek };
  await makeBackup({ path, ...source, passphrase, platformVersion: "1", now: new Date() });
  await stop();

  const database = await emptyDatabase();
  onTestFinished(database.close);
  const kekFile = join(target, "kek");
  if (passphrase === null) {
    mkdirSync(target);
    copyFileSync(join(dataDirectory, "kek"), kekFile);
  }
  const restored = { ...settings, dataDirectory: target, databaseUrl: database.url, kekFile };
  await restoreBackup({ path, passphrase, settings: restored, signal: new AbortController().signal });
  const context = await openPlatformContext(restored, silentLog);
  const server = await serve(context);
  onTestFinished(server.stop);
  const again = openClient(server.url, client.key);
  expect(await again.read(ids)).toMatchObject({ status: "FINISHED", result: "Before." });
  const next = await again.waitForRun(await again.followUp(ids.agentId, "second"));
  expect(next).toMatchObject({ status: "FINISHED", result: "After." });
  const { teamId } = fixture.principal;
  expect(await findCredentials(context, { teamId, host: credential.host }, ["token"])).toEqual([credential]);
});

test.each([
  ["with the files that another server has saved in the object store", "saved"],
  ["with a warning where the object store has been lost", "lost"],
  ["with the files in the backup where those in the object store are older", "older"],
])("an agent of a restored platform goes on %s", async (_how, state) => {
  const store = await temporaryDirectory();
  onTestFinished(() => store.remove());
  const { client, fixture, dataDirectory, stop } = await openRunHarness({
    replies: [
      call("exec_command", { cmd: "echo not pushed > note.txt" }),
      replyWith("Written."),
      call("exec_command", { cmd: "cat note.txt" }),
      replyWith("Read."),
    ],
    settings: { objectStore: { kind: "directory", path: store.path } },
  });
  const ids = await client.create("first");
  await client.waitForRun(ids);
  await stop();
  const { settings, connection } = fixture.platform;
  const kekFile = join(dataDirectory, "kek");
  const key = readKeyFile(kekFile) ?? expect.fail("no key");
  if (state === "older") {
    await fixture.platform.db.updateTable("agent_disks").set({ is_bound: true }).execute();
    const files = readdirSync(join(dataDirectory, "workspaces"), { recursive: true, encoding: "utf8" });
    const note = files.find((path) => path.endsWith("note.txt")) ?? expect.fail("no note");
    writeFileSync(join(dataDirectory, "workspaces", note), "newer than the save\n");
  } else {
    // The backup is made where the files are not.
    for (const name of ["workspaces", "handoffs"]) rmSync(join(dataDirectory, name), { recursive: true });
  }
  const target = newDataDirectory();
  rmSync(target, { recursive: true });
  const path = `${target}.backup`;
  onTestFinished(() => {
    for (const leftover of [target, path]) rmSync(leftover, { recursive: true, force: true });
  });
  const passphrase = "correct horse battery staple";
  await makeBackup({
    path,
    connection,
    dataDirectory,
    kekFile,
    key,
    passphrase,
    platformVersion: "1",
    now: new Date(),
  });
  if (state === "lost") rmSync(join(store.path, "disks"), { recursive: true });
  const database = await emptyDatabase();
  onTestFinished(database.close);
  const restored = { ...settings, dataDirectory: target, databaseUrl: database.url, kekFile: join(target, "kek") };
  await restoreBackup({ path, passphrase, settings: restored, signal: new AbortController().signal });
  const server = await serve(await openPlatformContext(restored, silentLog));
  onTestFinished(server.stop);
  const again = openClient(server.url, client.key);
  const next = await again.followUp(ids.agentId, "second");
  const frames = JSON.stringify(await again.stream(next));
  expect(await again.read(next)).toMatchObject({ status: "FINISHED", result: "Read." });
  expect(frames.includes("not pushed")).toBe(state === "saved");
  expect(frames.includes("newer than the save")).toBe(state === "older");
  const warning = "restored from a backup, and the object store does not have the files";
  expect(frames.includes(warning)).toBe(state === "lost");
});
