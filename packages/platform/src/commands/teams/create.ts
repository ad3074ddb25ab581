// `platform teams create`
import { CommandError } from "@agentcli/command-line";
import type { Invocation } from "../command.ts";
import { withAdministration } from "../principals.ts";
import type { Program } from "../program.ts";
import { teamLine } from "./list.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const name = readTeam(invocation, "platform teams create NAME");
  program.print(teamLine(await withAdministration(invocation, program, ({ createTeam }) => createTeam(name))));
  return 0;
}

export function readTeam({ positionals }: Invocation, usage: string): string {
  const [name = ""] = positionals;
  if (name.trim() === name && name !== "" && name.length <= 100) return name;
  throw new CommandError("usage", `Missing or invalid team name: ${usage}`);
}
