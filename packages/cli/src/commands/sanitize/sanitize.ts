// `agentcli sanitize`: the text without what a reader would not see; on request, what that was.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { sanitize } from "@agentcli/project/sanitize";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";

export async function run({ positionals, has }: Invocation, program: Program): Promise<number> {
  const [source = "-"] = positionals;
  const { text, report } = sanitize(readSource(source, program.environment.cwd));
  await program.print(text);
  if (has("report")) program.reporter.log(JSON.stringify({ removed: report }));
  return exitCodes.completed.code;
}

/** Bytes that are no UTF-8 become replacement characters: nothing from outside is too broken to be looked at. */
function readSource(source: string, cwd: string): string {
  try {
    return readFileSync(source === "-" ? 0 : resolve(cwd, source), "utf8");
  } catch (error) {
    throw new CommandError(
      "usage",
      `${source === "-" ? "Standard input" : source} cannot be read: ${(error as Error).message}.`,
    );
  }
}
