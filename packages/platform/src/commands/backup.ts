// `platform backup`
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Invocation } from "../args.ts";
import { makeBackup } from "../backup/index.ts";
import { noteHappening, openDatabase } from "../db/index.ts";
import { UsageProblem } from "../problem.ts";
import type { Program } from "../program.ts";
import { silentLog } from "../telemetry/index.ts";
import { openVault, readKeyFile } from "../vault/index.ts";
import { version } from "../version.ts";
import { asOperator } from "./operator.ts";
import { readPassphrase } from "./passphrase.ts";
import { settingsFor } from "./settings.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const [file] = invocation.positionals;
  if (!file) throw new UsageProblem("Where to? platform backup FILE.");
  const path = resolve(program.cwd, file);
  if (existsSync(path)) throw new UsageProblem(`${path} exists already. Name another file, or remove it.`);
  const { settings } = settingsFor(invocation, program);
  const { dataDirectory, kekFile } = settings;
  const passphrase = readPassphrase(invocation, program);
  const database = await openDatabase(settings, silentLog);
  try {
    // Also makes sure that this is the key of the database.
    await openVault(database.db, kekFile);
    const kekFingerprint = readKeyFile(kekFile)?.fingerprint ?? "";
    const { connection } = database;
    const now = new Date();
    const wish = {
      path,
      connection,
      dataDirectory,
      kekFile,
      kekFingerprint,
      passphrase,
      platformVersion: version,
      now,
    };
    const { tables, files } = await makeBackup(wish);
    const data = { tables, files, sealed: passphrase === null ? 0 : 1 };
    await asOperator(() => noteHappening(database.db, { action: "backup.made", subject: "platform", data }));
    program.print(`${path}: ${tables} tables, ${files} files, ${statSync(path).size} bytes\n`);
    if (passphrase === null)
      program.print(
        `It does not hold the key-encryption key. Keep ${kekFile} elsewhere: without it nothing can be read.\nNor does it hold signing-key and ssh/id of ${dataDirectory}.\n`,
      );
    return 0;
  } finally {
    await database.close();
  }
}
