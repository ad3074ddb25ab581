// A platform with a user and a key that is backed up, and empty targets for a restore.
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished } from "vitest";
import type { Settings } from "../../src/foundation/config/index.ts";
import { readKeyFile } from "../../src/foundation/vault/index.ts";
import {
  type BackupSummary,
  makeBackup,
  type RestoreRequest,
  restoreBackup as restore,
} from "../../src/operations/backup/index.ts";
import { emptyDatabase, type TestDatabase } from "../harness/database.ts";
import { type TestPlatform, testPlatform } from "../harness/platform.ts";

export const passphrase = "correct horse battery staple";

export const noSignal = new AbortController().signal;
export const restoreBackup = (request: Omit<RestoreRequest, "signal">) => restore({ ...request, signal: noSignal });
export const keyIn = (kekFile: string) => readKeyFile(kekFile) ?? expect.fail(`no key in ${kekFile}`);

export interface BackupHarness {
  source: TestPlatform;
  backup(seal?: string): Promise<string>;
  summary(): BackupSummary | undefined;
  /** Settings of an empty data directory, and its database. */
  emptyTarget(): Promise<{ settings: Settings; database: TestDatabase }>;
}

export async function openBackupHarness(): Promise<BackupHarness> {
  const source = await testPlatform();
  const folder = await temporaryDirectory();
  onTestFinished(async () => {
    await source.close();
    await folder.remove();
  });
  await source.key();
  const { settings } = source.platform;
  let made = 0;
  let summary: BackupSummary | undefined;
  return {
    source,
    summary: () => summary,
    async backup(seal) {
      made += 1;
      const path = join(folder.path, `backup-${made}`);
      summary = await makeBackup({
        path,
        connection: { url: settings.databaseUrl ?? "" },
        dataDirectory: settings.dataDirectory,
        kekFile: settings.kekFile,
        key: keyIn(settings.kekFile),
        passphrase: seal ?? null,
        platformVersion: "1",
        now: new Date(),
      });
      return path;
    },
    async emptyTarget() {
      const database = await emptyDatabase();
      onTestFinished(database.close);
      made += 1;
      const dataDirectory = join(folder.path, `target-${made}`);
      const target = { dataDirectory, kekFile: join(dataDirectory, "kek"), databaseUrl: database.url };
      return { settings: { ...settings, ...target }, database };
    },
  };
}
