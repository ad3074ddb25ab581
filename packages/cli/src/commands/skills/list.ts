// `agentcli skills list`: the skills a run in this directory would have, and those it could not use.
import { describeProblem, type Skill } from "@agentcli/project";
import { readSkills } from "@agentcli/project/skills";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { findSkills } from "../../config/skills.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { has } = invocation;
  const { print, reporter } = program;
  const { roots, switches } = await findSkills(invocation, program);
  const { skills, problems } = readSkills(roots, switches);
  if (has("json")) await print(`${JSON.stringify({ skills: skills.map(toJson), problems }, null, 2)}\n`);
  else {
    await print(skills.length === 0 ? `${nothing}\n` : skills.map(toText).join(""));
    for (const problem of problems) reporter.log(`${problem.severity}: ${describeProblem(problem)}`);
  }
  return exitCodes.completed.code;
}

const nothing = "There are no skills here. Put one in .agents/skills/NAME/SKILL.md.";

const toText = ({ name, shortDescription, path, scope, ...skill }: Skill): string =>
  `$${name} (${[scope, ...comments(skill)].join(", ")})\n  ${shortDescription}\n  ${path}\n`;

const comments = ({ invocation, enabled }: Pick<Skill, "invocation" | "enabled">): string[] => [
  ...(invocation === "by-name" ? ["only when named"] : []),
  ...(enabled ? [] : ["switched off"]),
];

const toJson = ({ shortDescription, invocation, interface: shown, dependencies, enabled, ...skill }: Skill) => ({
  ...skill,
  short_description: shortDescription,
  disable_model_invocation: invocation === "by-name",
  enabled,
  ...(Object.keys(shown).length > 0 && { interface: shown }),
  ...(dependencies.length > 0 && { dependencies: { tools: dependencies } }),
});
