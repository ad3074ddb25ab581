// `platform users end-sessions`
import { openAdministration } from "../../identity/principals/index.ts";
import { openSessions } from "../../identity/sessions/index.ts";
import type { Invocation } from "../command.ts";
import { withVault } from "../principals.ts";
import type { Program } from "../program.ts";
import { readEmail } from "./set.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const email = readEmail(invocation, "platform users end-sessions EMAIL");
  const ended = await withVault(invocation, program, async ({ db, vault }) => {
    const { id } = await openAdministration(db, vault).findUser({ email });
    return openSessions(db, () => new Date()).endOf(id, "all");
  });
  program.print(`ended ${ended}\n`);
  return 0;
}
