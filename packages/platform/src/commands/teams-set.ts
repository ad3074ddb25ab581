// `platform teams set`
import type { Invocation } from "../args.ts";
import { followUps, type TeamChange } from "../principals/index.ts";
import { UsageProblem } from "../problem.ts";
import type { Program } from "../program.ts";
import { withAdministration } from "./principals.ts";
import { readSpendLimit } from "./spend-limit.ts";
import { readTeam } from "./teams-create.ts";
import { teamLine } from "./teams-list.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const name = readTeam(invocation, "platform teams set NAME");
  const change = { ...readSpendLimit(invocation), ...readFollowUps(invocation) };
  if (Object.keys(change).length === 0)
    throw new UsageProblem("Set what? --spend-limit USD or none, --follow-ups disabled, service-accounts or all.");
  program.print(teamLine(await withAdministration(invocation, program, ({ changeTeam }) => changeTeam(name, change))));
  return 0;
}

function readFollowUps({ text }: Invocation): Pick<TeamChange, "followUps"> {
  const given = text("follow-ups");
  if (given === undefined) return {};
  const chosen = followUps.find((value) => value.replace("_", "-") === given);
  if (chosen !== undefined) return { followUps: chosen };
  throw new UsageProblem(`--follow-ups ${given} is none of disabled, service-accounts, all.`);
}
