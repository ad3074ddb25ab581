// `agentcli sessions name`: a session is called by a name from now on.
import { CommandError } from "@agentcli/command-line";
import { writeName } from "@agentcli/host/session-files";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";
import { findByReference, threadsNamed } from "../../sessions/find.ts";

export async function run({ positionals }: Invocation, { environment, reporter }: Program): Promise<number> {
  const [reference, name] = positionals;
  if (reference === undefined || name === undefined) {
    throw new CommandError("usage", 'Give a session and its name: agentcli sessions name ID "nightly"');
  }
  const id = findByReference(reference, environment.agentHome);
  const other = threadsNamed(name, environment.agentHome).find((one) => one !== id);
  if (other !== undefined)
    throw new CommandError("usage", `The name "${name}" is already used by session ${other}. Choose another.`);
  writeName(environment.agentHome, id, name);
  reporter.log(`Session ${id} is now called "${name}".`);
  return exitCodes.completed.code;
}
