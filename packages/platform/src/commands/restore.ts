// `platform restore`
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Invocation } from "../args.ts";
import { restoreBackup } from "../backup/index.ts";
import { noteHappening, openDatabase } from "../db/index.ts";
import { UsageProblem } from "../problem.ts";
import type { Program } from "../program.ts";
import { silentLog } from "../telemetry/index.ts";
import { asOperator } from "./operator.ts";
import { readPassphrase } from "./passphrase.ts";
import { settingsFor } from "./settings.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const [file] = invocation.positionals;
  if (!file) throw new UsageProblem("From where? platform restore FILE.");
  const path = resolve(program.cwd, file);
  if (!existsSync(path)) throw new UsageProblem(`There is no file ${path}.`);
  const { settings } = settingsFor(invocation, program);
  const { createdAt } = await restoreBackup({ path, passphrase: readPassphrase(invocation, program), settings });
  const database = await openDatabase(settings, silentLog);
  try {
    const happening = { action: "backup.restored", subject: "platform", data: { createdAt } };
    await asOperator(() => noteHappening(database.db, happening));
  } finally {
    await database.close();
  }
  program.print(`restored what was backed up at ${createdAt} into ${settings.dataDirectory}\n`);
  return 0;
}
