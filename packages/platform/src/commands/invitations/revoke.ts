// `platform invitations revoke`
import { CommandError } from "@agentcli/command-line";
import { openInvitations } from "../../identity/invitations/index.ts";
import type { Invocation } from "../command.ts";
import { withVault } from "../principals.ts";
import type { Program } from "../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const [id] = invocation.positionals;
  const where = "To list invitations: platform invitations list";
  if (id === undefined)
    throw new CommandError("usage", `Missing invitation id. Usage: platform invitations revoke ID. ${where}`);
  const isRevoked = await withVault(invocation, program, ({ db }) =>
    openInvitations(db, () => new Date()).revoke(null, id),
  );
  if (!isRevoked) throw new CommandError("usage", `There is no pending invitation ${id}. ${where}`);
  program.print(`revoked ${id}\n`);
  return 0;
}
