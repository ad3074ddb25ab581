// `agentcli sessions name`: a session is called by a name from now on.
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../args.ts";
import { Problem } from "../problem.ts";
import type { Program } from "../program.ts";
import { findByReference } from "../sessions/find.ts";
import { writeName } from "../sessions/names.ts";

export async function run({ positionals }: Invocation, { environment, reporter }: Program): Promise<number> {
  const [reference, name] = positionals;
  if (reference === undefined || name === undefined) {
    throw new Problem("usage", 'Give a session and its name: agentcli sessions name ID "nightly"');
  }
  const id = findByReference(reference, environment.agentHome);
  writeName(environment.agentHome, id, name);
  reporter.say(`Session ${id} is now called "${name}".`);
  return exitCodes.completed.code;
}
