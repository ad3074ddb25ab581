// `platform teams set`
import type { Invocation } from "../args.ts";
import { UsageProblem } from "../problem.ts";
import type { Program } from "../program.ts";
import { withAdministration } from "./principals.ts";
import { readSpendLimit } from "./spend-limit.ts";
import { readTeam } from "./teams-create.ts";
import { teamLine } from "./teams-list.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const name = readTeam(invocation, "platform teams set NAME");
  const change = readSpendLimit(invocation);
  if (Object.keys(change).length === 0) throw new UsageProblem("Set what? --spend-limit USD or none.");
  program.print(teamLine(await withAdministration(invocation, program, ({ changeTeam }) => changeTeam(name, change))));
  return 0;
}
