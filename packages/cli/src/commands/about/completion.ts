// `agentcli completion`: a script that lets a shell complete commands and flags.
import { CommandError } from "@agentcli/command-line";
import { completionScript, shells } from "@agentcli/command-line/completion";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";

export async function run({ positionals }: Invocation, { syntax, print }: Program): Promise<number> {
  const script = completionScript(positionals[0] ?? "", await syntax());
  if (script === null)
    throw new CommandError(
      "usage",
      `Missing or unknown shell. Pass one of ${shells.join(", ")}: source <(agentcli completion bash)`,
    );
  await print(script);
  return exitCodes.completed.code;
}
