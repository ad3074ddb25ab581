// `platform migrate`
import { openDatabase } from "../../foundation/db/index.ts";
import { silentLog } from "../../foundation/telemetry/index.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { settingsFor } from "../settings.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { settings } = settingsFor(invocation, program);
  const { migrated, close } = await openDatabase(settings, silentLog);
  await close();
  const lines = migrated.map((name) => `migrated ${name}\n`).join("");
  program.print(lines || "The database is up to date.\n");
  return 0;
}
