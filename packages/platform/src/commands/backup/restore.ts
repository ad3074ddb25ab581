// `platform restore`
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { openDatabase, recordAuditEvent } from "../../foundation/db/index.ts";
import { silentLog } from "../../foundation/telemetry/index.ts";
import { openVault } from "../../foundation/vault/index.ts";
import { restoreBackup } from "../../operations/backup/index.ts";
import { anchorEntries } from "../anchor.ts";
import type { Invocation } from "../command.ts";
import { asOperator } from "../operator.ts";
import type { Program } from "../program.ts";
import { settingsFor } from "../settings.ts";
import { readPassphrase } from "./passphrase.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const [file] = invocation.positionals;
  if (!file) throw new CommandError("usage", "Missing file: platform restore FILE.");
  const path = resolve(program.cwd, file);
  if (!existsSync(path)) throw new CommandError("usage", `There is no file ${path}.`);
  const { settings } = settingsFor(invocation, program);
  const { signal } = program;
  const passphrase = readPassphrase(invocation, program);
  const { createdAt, leftOut } = await restoreBackup({ path, passphrase, settings, signal });
  const database = await openDatabase(settings, silentLog);
  try {
    const event = { action: "backup.restored", subject: "platform", data: { createdAt } };
    await asOperator(() => recordAuditEvent(database.db, event));
    const { db } = database;
    await anchorEntries({ db, settings, vault: await openVault(db, settings) }, program);
  } finally {
    await database.close();
  }
  for (const name of leftOut)
    program.print(`Not restored, because it is not a file of the platform: ${JSON.stringify(name)}\n`);
  program.print(`restored the backup of ${createdAt} into ${settings.dataDirectory}\n`);
  return 0;
}
