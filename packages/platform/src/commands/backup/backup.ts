// `platform backup`
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { openDatabase, recordAuditEvent } from "../../foundation/db/index.ts";
import { silentLog } from "../../foundation/telemetry/index.ts";
import { findKey, openVault } from "../../foundation/vault/index.ts";
import { version } from "../../foundation/version.ts";
import { type BackupSummary, makeBackup } from "../../operations/backup/index.ts";
import { anchorEntries } from "../anchor.ts";
import type { Invocation } from "../command.ts";
import { asOperator } from "../operator.ts";
import type { Program } from "../program.ts";
import { settingsFor } from "../settings.ts";
import { readPassphrase } from "./passphrase.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const [file] = invocation.positionals;
  if (!file) throw new CommandError("usage", "Missing file: platform backup FILE.");
  const path = resolve(program.cwd, file);
  if (existsSync(path)) throw new CommandError("usage", `${path} already exists. Choose another file, or remove it.`);
  const { settings } = settingsFor(invocation, program);
  const { dataDirectory, kekFile } = settings;
  const passphrase = readPassphrase(invocation, program);
  const database = await openDatabase(settings, silentLog);
  try {
    // Also checks that this is the key of the database.
    const vault = await openVault(database.db, settings);
    await anchorEntries({ db: database.db, vault, settings }, program);
    const key = await findKey(database.db, settings);
    if (key === null) throw new CommandError("failed", `The key file ${kekFile} was removed. Restore it.`);
    const { connection } = database;
    const source = { connection, dataDirectory, kekFile, key };
    const { tables, files, others, leftOut } = await makeBackup({
      ...source,
      path,
      passphrase,
      platformVersion: version,
      now: new Date(),
    });
    const data = { tables, files, leftOut: leftOut.count, sealed: passphrase === null ? 0 : 1 };
    await asOperator(() => recordAuditEvent(database.db, { action: "backup.made", subject: "platform", data }));
    await anchorEntries({ db: database.db, vault, settings }, program);
    program.print(`${path}: ${tables} tables, ${files} files, ${statSync(path).size} bytes\n`);
    for (const name of others)
      program.print(`Not included, because it is not a file of the platform: ${JSON.stringify(name)}\n`);
    for (const line of leftOutLines(leftOut)) program.print(`${line}\n`);
    if (passphrase === null)
      program.print(
        `The backup does not contain the key-encryption key. ${settings.kms === null ? `Keep ${kekFile} elsewhere` : `Keep ${key.description}`}: without it the backup cannot be read.\nIt does not contain signing-key and ssh/id of ${dataDirectory} either.\n`,
      );
    return 0;
  } finally {
    await database.close();
  }
}

function leftOutLines({ count, first }: BackupSummary["leftOut"]): string[] {
  const lines = first.map(({ path, reason }) => `Not included: ${JSON.stringify(path)}: ${reason}.`);
  return count > first.length ? [...lines, `Not included: ${count - first.length} other files like these.`] : lines;
}
