// `agentcli skills list`: the skills a run in this directory would have, and those it could not use.
import { describeProblem, readSkills, type Skill } from "@agentcli/project";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../args.ts";
import { placesOfSkills } from "../context.ts";
import type { Program } from "../program.ts";

export async function run({ has }: Invocation, { environment, print, reporter }: Program): Promise<number> {
  const { skills, problems } = readSkills(placesOfSkills(environment.cwd, environment));
  if (has("json")) await print(`${JSON.stringify({ skills: skills.map(toJson), problems }, null, 2)}\n`);
  else {
    await print(skills.length === 0 ? `${nothing}\n` : skills.map(toText).join(""));
    for (const problem of problems) reporter.say(`${problem.severity}: ${describeProblem(problem)}`);
  }
  return exitCodes.completed.code;
}

const nothing = "There are no skills here. Put one in .agents/skills/NAME/SKILL.md.";

const toText = ({ name, shortDescription, path, scope, invocation }: Skill): string =>
  `$${name} (${scope}${invocation === "by-name" ? ", only when named" : ""})\n  ${shortDescription}\n  ${path}\n`;

const toJson = ({ name, description, shortDescription, path, scope, invocation }: Skill) => ({
  name,
  description,
  short_description: shortDescription,
  path,
  scope,
  disable_model_invocation: invocation === "by-name",
});
