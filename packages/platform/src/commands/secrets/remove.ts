// `platform secrets remove`
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { requireName, withSecrets } from "./owner.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const name = requireName(invocation, "platform secrets remove NAME");
  await withSecrets(invocation, program, (secrets) => secrets.remove({ name, id: invocation.text("id") }));
  program.print(`Removed ${name}. Agents that have started keep it.\n`);
  return 0;
}
