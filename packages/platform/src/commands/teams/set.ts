// `platform teams set`
import { CommandError } from "@agentcli/command-line";
import { followUps, type TeamChange } from "../../identity/principals/index.ts";
import type { Invocation } from "../command.ts";
import { withAdministration } from "../principals.ts";
import type { Program } from "../program.ts";
import { readSpendLimit } from "../spend-limit.ts";
import { readTeam } from "./create.ts";
import { teamLine } from "./list.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const name = readTeam(invocation, "platform teams set NAME");
  const change = { ...readSpendLimit(invocation), ...readFollowUps(invocation) };
  if (Object.keys(change).length === 0)
    throw new CommandError(
      "usage",
      "Nothing to set: pass --spend-limit USD or none, or --follow-ups disabled, service-accounts or all.",
    );
  program.print(teamLine(await withAdministration(invocation, program, ({ changeTeam }) => changeTeam(name, change))));
  return 0;
}

function readFollowUps({ text }: Invocation): Pick<TeamChange, "followUps"> {
  const value = text("follow-ups");
  if (value === undefined) return {};
  const match = followUps.find((option) => option.replace("_", "-") === value);
  if (match !== undefined) return { followUps: match };
  throw new CommandError("usage", `Invalid --follow-ups ${value}: expected disabled, service-accounts or all.`);
}
