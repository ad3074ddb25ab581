// Principals for commands that manage keys: they need the database, and no server.
import type { Invocation } from "../args.ts";
import { openDatabase } from "../db/index.ts";
import { openPrincipals, type Principals } from "../principals/index.ts";
import type { Program } from "../program.ts";
import { silentLog } from "../telemetry/index.ts";
import { openVault } from "../vault/index.ts";
import { asOperator } from "./operator.ts";
import { settingsFor } from "./settings.ts";

export async function withPrincipals<T>(
  invocation: Invocation,
  program: Program,
  use: (principals: Principals) => Promise<T>,
): Promise<T> {
  const { settings } = settingsFor(invocation, program);
  const database = await openDatabase(settings, silentLog);
  try {
    const vault = await openVault(database.db, settings.kekFile);
    const principals = openPrincipals({ db: database.db, vault, now: () => new Date() });
    return await asOperator(() => use(principals));
  } finally {
    await database.close();
  }
}
