// `platform migrate`
import type { Invocation } from "../args.ts";
import { openDatabase } from "../db/index.ts";
import type { Program } from "../program.ts";
import { silentLog } from "../telemetry/index.ts";
import { settingsFor } from "./settings.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { settings } = settingsFor(invocation, program);
  const { migrated, close } = await openDatabase(settings, silentLog);
  await close();
  const said = migrated.map((name) => `migrated ${name}\n`).join("");
  program.print(said || "The database is up to date.\n");
  return 0;
}
