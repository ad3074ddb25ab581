// `agentcli exit-codes`: the table every run keeps to.
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";

export async function run({ has }: Invocation, { print }: Program): Promise<number> {
  const rows = Object.values(exitCodes);
  if (has("json")) await print(`${JSON.stringify(rows)}\n`);
  else await print(rows.map(({ code, when }) => `${String(code).padStart(3)}  ${when}\n`).join(""));
  return exitCodes.completed.code;
}
