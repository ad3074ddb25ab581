// `platform rotate-kek`
import type { Invocation } from "../args.ts";
import { proveWithBoth } from "../audit/index.ts";
import { openDatabase } from "../db/index.ts";
import type { Program } from "../program.ts";
import { silentLog } from "../telemetry/index.ts";
import { openVault, rotateKeyFile } from "../vault/index.ts";
import { asOperator } from "./operator.ts";
import { settingsFor } from "./settings.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { settings } = settingsFor(invocation, program);
  const { db, close } = await openDatabase(settings, silentLog);
  try {
    await openVault(db, settings.kekFile);
    const { dataDirectory, kekFile } = settings;
    const { fingerprint, dataKeys, formerFile } = await asOperator(() =>
      rotateKeyFile(db, kekFile, (former, next) => proveWithBoth(dataDirectory, former, next)),
    );
    program.print(
      `${dataKeys} data keys are wrapped with a new key (fingerprint ${fingerprint}) in ${settings.kekFile}\n`,
    );
    program.print(`The former key is ${formerFile}: backups from before need it. Remove it when they are gone.\n`);
    return 0;
  } finally {
    await close();
  }
}
