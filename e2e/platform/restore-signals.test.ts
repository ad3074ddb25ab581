// A restore that gets a signal to end leaves nothing behind, whichever user runs it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, waitForExit } from "@agentcli/testkit";
import { embeddedPostgres, openPlatformForTest, type PlatformHarness } from "@agentcli/testkit/platform";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";

const sealed = (harness: PlatformHarness): string[] => {
  const secret = join(harness.data, "../passphrase");
  writeFileSync(secret, "correct horse battery staple\n");
  return ["--passphrase-file", secret];
};

/** Sends SIGTERM to its own process when it empties the tables. */
const terminateAtTruncate = `
  const { Socket } = require("node:net");
  const { write } = Socket.prototype;
  Socket.prototype.write = function (data, ...rest) {
    if (Buffer.isBuffer(data) && data.includes('truncate "')) process.kill(process.pid, "SIGTERM");
    return write.call(this, data, ...rest);
  };`;

test("SIGTERM ends a restore and its database, and the restore can be repeated", async () => {
  const harness = await openPlatformForTest();
  await harness.key();
  const [file, preload] = [join(harness.directory, "backup"), join(harness.directory, "preload.cjs")];
  writeFileSync(preload, terminateAtTruncate);
  const secret = sealed(harness);
  expect(await harness.run(["backup", file, ...secret])).toMatchObject({ code: 0 });
  const target = await openPlatformForTest({ database: "embedded" });
  const args = ["restore", file, ...secret];
  expect(await target.run(args, { NODE_OPTIONS: `--require ${JSON.stringify(preload)}` })).toMatchObject({
    code: 143,
    stderr: "ERROR: Stopped by SIGTERM.\n",
  });
  expect(embeddedPostgres(target.data)).toBe(null);
  expect(await target.run(args)).toMatchObject({ code: 0 });
});

test("a restore that waits for a lock of the database ends with SIGTERM too", async () => {
  const harness = await openPlatformForTest();
  await harness.key();
  const file = join(harness.directory, "backup");
  const secret = sealed(harness);
  expect(await harness.run(["backup", file, ...secret])).toMatchObject({ code: 0 });
  const target = await openPlatformForTest();
  const holder = new pg.Client({ connectionString: target.database.url });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query("begin");
  await holder.query("lock table teams in share mode");
  const child = target.start(["restore", file, ...secret]);
  await eventually(async () => {
    const waiting = "select from pg_locks where not granted and relation = 'teams'::regclass";
    expect(await target.database.query(waiting)).toHaveLength(1);
  });
  child.kill("SIGTERM");
  expect(await waitForExit(child)).toMatchObject({ code: 143, stderr: "ERROR: Stopped by SIGTERM.\n" });
  await holder.query("rollback");
  expect(await target.database.query("select from teams")).toEqual([]);
});
