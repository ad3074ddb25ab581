// `platform audit export`
import type { Invocation } from "../args.ts";
import { exportLines, withStoredLog } from "../audit/index.ts";
import { openDatabase } from "../db/index.ts";
import type { Program } from "../program.ts";
import { silentLog } from "../telemetry/index.ts";
import { settingsFor } from "./settings.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { settings } = settingsFor(invocation, program);
  const database = await openDatabase(settings, silentLog);
  try {
    await withStoredLog(database.db, async (log) => {
      for await (const line of exportLines(log)) program.print(line);
    });
    return 0;
  } finally {
    await database.close();
  }
}
