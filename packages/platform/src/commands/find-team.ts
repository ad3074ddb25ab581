// The team that a command is about.
import { CommandError } from "@agentcli/command-line";
import type { Administration, TeamEntry } from "../identity/principals/index.ts";

export async function findTeam({ listTeams }: Administration, name: string): Promise<TeamEntry> {
  const match = (await listTeams()).find((team) => team.name === name);
  if (match) return match;
  throw new CommandError("usage", `There is no team ${name}. Create it first: platform teams create ${name}.`);
}
