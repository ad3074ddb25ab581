// `platform invitations list`
import { type InvitationEntry, openInvitations } from "../../identity/invitations/index.ts";
import type { Invocation } from "../command.ts";
import { withVault } from "../principals.ts";
import type { Program } from "../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const list = await withVault(invocation, program, ({ db }) => openInvitations(db, () => new Date()).list(null));
  program.print(invocation.has("json") ? `${JSON.stringify(list, null, 2)}\n` : list.map(line).join(""));
  return 0;
}

const line = ({ id, email, team, role, expiresAt }: InvitationEntry): string =>
  `${id}  ${email}  ${team}  ${role}  until ${expiresAt.toISOString()}\n`;
