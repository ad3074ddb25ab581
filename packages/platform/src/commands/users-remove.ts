// `platform users remove`
import type { Invocation } from "../args.ts";
import type { Program } from "../program.ts";
import { withAdministration } from "./principals.ts";
import { readEmail } from "./users-set.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const email = readEmail(invocation, "platform users remove EMAIL");
  await withAdministration(invocation, program, ({ removeUser }) => removeUser(email));
  program.print(`removed ${email}\n`);
  return 0;
}
