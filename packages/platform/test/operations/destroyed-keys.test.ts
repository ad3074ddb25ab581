// What a deleted agent said, in a backup from before: readable with the key-encryption key of then, and with no other.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replyWith, temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import type { Settings } from "../../src/foundation/config/index.ts";
import { openVault, readKeyFile, rotateKeyFile, Unsealable, type Vault } from "../../src/foundation/vault/index.ts";
import { makeBackup, restoreBackup } from "../../src/operations/backup/index.ts";
import { emptyDatabase, type TestDatabase } from "../harness/database.ts";
import { openRunHarness } from "../runs/run-harness.ts";

const keyIn = (kekFile: string) => readKeyFile(kekFile) ?? expect.fail(`no key in ${kekFile}`);

/** Of an agent, everything that its conversation records. */
async function readConversation(db: TestDatabase["db"], vault: Vault, agentId: string): Promise<string> {
  const agents = db.selectFrom("agents").select("data_key").where("id", "=", agentId);
  const key = await vault.unwrap((await agents.executeTakeFirstOrThrow()).data_key);
  const rows = await db.selectFrom("thread_records").selectAll().where("thread_id", "=", agentId).execute();
  return rows.map(({ seq, record }) => key.openText(record, `record:${agentId}:${seq}`)).join("\n");
}

/** Into an empty data directory with this key-encryption key. */
async function restoreWith(kek: Buffer, path: string, settings: Settings) {
  const [database, folder] = [await emptyDatabase(), await temporaryDirectory()];
  onTestFinished(async () => {
    await database.close();
    await folder.remove();
  });
  const dataDirectory = join(folder.path, "data");
  const kekFile = join(dataDirectory, "kek");
  mkdirSync(dataDirectory);
  writeFileSync(kekFile, kek, { mode: 0o600 });
  await restoreBackup({
    ...{ path, passphrase: null, signal: new AbortController().signal },
    settings: { ...settings, dataDirectory, kekFile, databaseUrl: database.url },
  });
  return { db: database.db, kekFile };
}

test("what a deleted agent said is not readable from an earlier backup once the key-encryption key was rotated and the former one destroyed", async () => {
  const harness = await openRunHarness({ replies: { replies: [replyWith("Heard.")], repeat: "loop" } });
  const { client, fixture } = harness;
  const { db, settings } = fixture.platform;
  const [gone, kept] = [await client.create("a word of the deleted"), await client.create("a word of the kept")];
  for (const ids of [gone, kept]) await client.stream(ids);
  const path = join(harness.dataDirectory, "..", `backup-${gone.agentId}`);
  onTestFinished(() => rmSync(path, { force: true }));
  const { kekFile } = settings;
  await makeBackup({
    ...{ path, connection: { url: fixture.databaseUrl }, dataDirectory: settings.dataDirectory, kekFile },
    ...{ key: keyIn(kekFile), passphrase: null, platformVersion: "1", now: new Date() },
  });
  expect((await client.send("DELETE", `/v1/agents/${gone.agentId}`)).status).toBe(200);
  await harness.stop();

  // The limit: the backup has the key of the agent, wrapped with the key-encryption key of then.
  const restored = await restoreWith(readFileSync(kekFile), path, settings);
  const then = await openVault(restored.db, restored);
  expect(await readConversation(restored.db, then, gone.agentId)).toContain("a word of the deleted");

  const { formerFile } = await rotateKeyFile(db, kekFile);
  rmSync(formerFile);
  await expect(restoreWith(readFileSync(kekFile), path, settings)).rejects.toThrow(
    "the backup was sealed with fingerprint",
  );
  const now = await openVault(db, { kekFile });
  expect(await readConversation(db, now, kept.agentId)).toContain("a word of the kept");
  for (const { agentId } of [gone, kept])
    await expect(readConversation(restored.db, now, agentId)).rejects.toThrow(Unsealable);
  expect(await db.selectFrom("agents").select("id").execute()).toEqual([{ id: kept.agentId }]);
  const left = await db.selectFrom("thread_records").select("seq").where("thread_id", "=", gone.agentId).execute();
  expect(left).toEqual([]);
});
