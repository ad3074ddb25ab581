// `platform users invite`
import type { Invocation } from "../args.ts";
import type { Settings } from "../config/index.ts";
import { openInvitations } from "../invitations/index.ts";
import { type Administration, openAdministration, type TeamEntry } from "../principals/index.ts";
import { UsageProblem } from "../problem.ts";
import type { Program } from "../program.ts";
import { findServer } from "../server-file.ts";
import { withVault } from "./principals.ts";
import { readEmail, readRole } from "./users-set.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const email = readEmail(invocation, "platform users invite EMAIL");
  const role = readRole(invocation) ?? "member";
  const link = await withVault(invocation, program, async ({ db, vault, settings }) => {
    const address = addressOf(settings);
    const { id: teamId, users } = await findTeam(openAdministration(db, vault), invocation.text("team") ?? "default");
    const wish = { teamId, email, role: users === 0 ? ("admin" as const) : role };
    const { secret } = await openInvitations(db, () => new Date()).invite(wish);
    return `${address}/join?token=${secret}`;
  });
  program.print(`${link}\n`);
  return 0;
}

async function findTeam({ listTeams }: Administration, name: string): Promise<TeamEntry> {
  const found = (await listTeams()).find((team) => team.name === name);
  if (found) return found;
  throw new UsageProblem(`There is no team ${name}. Make it first: platform teams create ${name}.`);
}

function addressOf({ publicUrl, dataDirectory }: Settings): string {
  const address = publicUrl ?? findServer(dataDirectory)?.url;
  if (address !== undefined) return address;
  throw new UsageProblem(`No server runs on ${dataDirectory}, and public_url is not set: the link would lead nowhere.`);
}
