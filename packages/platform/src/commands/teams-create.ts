// `platform teams create`
import type { Invocation } from "../args.ts";
import { UsageProblem } from "../problem.ts";
import type { Program } from "../program.ts";
import { withAdministration } from "./principals.ts";
import { teamLine } from "./teams-list.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const name = readTeam(invocation, "platform teams create NAME");
  program.print(teamLine(await withAdministration(invocation, program, ({ createTeam }) => createTeam(name))));
  return 0;
}

export function readTeam({ positionals }: Invocation, usage: string): string {
  const [name = ""] = positionals;
  if (name.trim() === name && name !== "" && name.length <= 100) return name;
  throw new UsageProblem(`Which team? ${usage}`);
}
