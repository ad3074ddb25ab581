// `platform machines stop`
import { CommandError } from "@agentcli/command-line";
import { stopMachine } from "../../machines/index.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { settingsFor } from "../settings.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const [id = ""] = invocation.positionals;
  if (id === "") throw new CommandError("usage", `Missing id of the machine. Usage: platform machines stop ID. ${how}`);
  const isFound = await stopMachine(settingsFor(invocation, program).settings, id);
  if (!isFound) throw new CommandError("usage", `There is no machine ${id} on this host. ${how}`);
  program.print(`stopped ${id}\n`);
  return 0;
}

const how = "To list machines: platform machines list";
