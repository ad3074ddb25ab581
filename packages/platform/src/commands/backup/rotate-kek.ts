// `platform rotate-kek`
import { openDatabase } from "../../foundation/db/index.ts";
import { silentLog } from "../../foundation/telemetry/index.ts";
import { openVault, rotateKeyFile } from "../../foundation/vault/index.ts";
import { authenticateWithBoth } from "../../identity/audit/index.ts";
import { anchorEntries } from "../anchor.ts";
import type { Invocation } from "../command.ts";
import { asOperator } from "../operator.ts";
import type { Program } from "../program.ts";
import { settingsFor } from "../settings.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { settings } = settingsFor(invocation, program);
  const { db, close } = await openDatabase(settings, silentLog);
  try {
    await openVault(db, settings);
    const { dataDirectory, kekFile } = settings;
    const { fingerprint, dataKeys, formerFile } = await asOperator(() =>
      rotateKeyFile(db, kekFile, (former, next) => authenticateWithBoth(dataDirectory, former, next)),
    );
    await anchorEntries({ db, settings, vault: await openVault(db, settings) }, program);
    program.print(
      `${dataKeys} data keys are wrapped with a new key (fingerprint ${fingerprint}) in ${settings.kekFile}\n`,
    );
    program.print(`The old key is ${formerFile}: earlier backups need it. Remove it when they are gone.\n`);
    return 0;
  } finally {
    await close();
  }
}
