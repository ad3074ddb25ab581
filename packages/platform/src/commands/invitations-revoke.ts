// `platform invitations revoke`
import type { Invocation } from "../args.ts";
import { openInvitations } from "../invitations/index.ts";
import { UsageProblem } from "../problem.ts";
import type { Program } from "../program.ts";
import { withVault } from "./principals.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const [id] = invocation.positionals;
  const where = "platform invitations list shows them.";
  if (id === undefined) throw new UsageProblem(`Which invitation? platform invitations revoke ID. ${where}`);
  const isRevoked = await withVault(invocation, program, ({ db }) =>
    openInvitations(db, () => new Date()).revoke(null, id),
  );
  if (!isRevoked) throw new UsageProblem(`No invitation ${id} waits. ${where}`);
  program.print(`revoked ${id}\n`);
  return 0;
}
