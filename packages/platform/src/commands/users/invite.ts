// `platform users invite`
import { CommandError } from "@agentcli/command-line";
import type { Settings } from "../../foundation/config/index.ts";
import { openInvitations } from "../../identity/invitations/index.ts";
import { openAdministration } from "../../identity/principals/index.ts";
import { findServer } from "../../server-file.ts";
import type { Invocation } from "../command.ts";
import { findTeam } from "../find-team.ts";
import { withVault } from "../principals.ts";
import type { Program } from "../program.ts";
import { readEmail, readRole } from "./set.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const email = readEmail(invocation, "platform users invite EMAIL");
  const role = readRole(invocation) ?? "member";
  const link = await withVault(invocation, program, async ({ db, vault, settings }) => {
    const address = addressOf(settings);
    const { id: teamId, users } = await findTeam(openAdministration(db, vault), invocation.text("team") ?? "default");
    const request = { teamId, email, role: users === 0 ? ("admin" as const) : role };
    const { secret } = await openInvitations(db, () => new Date()).invite(request);
    return `${address}/join?token=${secret}`;
  });
  program.print(`${link}\n`);
  return 0;
}

function addressOf({ publicUrl, dataDirectory }: Settings): string {
  const address = publicUrl ?? findServer(dataDirectory)?.url;
  if (address !== undefined) return address;
  throw new CommandError(
    "usage",
    `No server is running on ${dataDirectory}, and public_url is not set: the link would have no address.`,
  );
}
