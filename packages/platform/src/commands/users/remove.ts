// `platform users remove`
import type { Invocation } from "../command.ts";
import { withAdministration } from "../principals.ts";
import type { Program } from "../program.ts";
import { readEmail } from "./set.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const email = readEmail(invocation, "platform users remove EMAIL");
  await withAdministration(invocation, program, ({ removeUser }) => removeUser({ email }));
  program.print(`removed ${email}\n`);
  return 0;
}
