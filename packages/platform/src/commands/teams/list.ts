// `platform teams list`
import type { TeamEntry } from "../../identity/principals/index.ts";
import type { Invocation } from "../command.ts";
import { withAdministration } from "../principals.ts";
import type { Program } from "../program.ts";
import { shownLimit } from "../spend-limit.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const teams = await withAdministration(invocation, program, ({ listTeams }) => listTeams());
  program.print(invocation.has("json") ? `${JSON.stringify(teams, null, 2)}\n` : teams.map(teamLine).join(""));
  return 0;
}

export const teamLine = ({ name, users, spendLimitUsd, followUps }: TeamEntry): string =>
  `${name}  ${users} ${users === 1 ? "user" : "users"}  ${shownLimit(spendLimitUsd)}  follow-ups: ${followUps.replace("_", "-")}\n`;
