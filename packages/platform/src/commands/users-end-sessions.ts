// `platform users end-sessions`
import type { Invocation } from "../args.ts";
import { openAdministration } from "../principals/index.ts";
import type { Program } from "../program.ts";
import { openSessions } from "../sessions/index.ts";
import { withVault } from "./principals.ts";
import { readEmail } from "./users-set.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const email = readEmail(invocation, "platform users end-sessions EMAIL");
  const ended = await withVault(invocation, program, async ({ db, vault }) => {
    const { id } = await openAdministration(db, vault).findUser(email);
    return openSessions(db, () => new Date()).endOf(id, "all");
  });
  program.print(`ended ${ended}\n`);
  return 0;
}
