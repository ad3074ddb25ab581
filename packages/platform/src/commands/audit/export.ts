// `platform audit export`
import { openDatabase } from "../../foundation/db/index.ts";
import { silentLog } from "../../foundation/telemetry/index.ts";
import { exportLines, withStoredLog } from "../../identity/audit/index.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { settingsFor } from "../settings.ts";

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
