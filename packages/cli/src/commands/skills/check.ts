// `agentcli skills check`: every broken rule with its file and line; exit code 1 when there is one.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import type { FileProblem } from "@agentcli/project";
import { checkSkills } from "@agentcli/project/skills";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { findSkills } from "../../config/skills.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { has, positionals } = invocation;
  const { environment, print } = program;
  const [path] = positionals;
  const asked = path === undefined ? null : resolve(environment.cwd, path);
  if (asked !== null && !existsSync(asked)) throw new CommandError("usage", `There is nothing at ${asked}.`);
  const roots = asked ? [] : (await findSkills(invocation, program)).roots;
  const { files, problems } = checkSkills(asked ? [asked] : roots.map((root) => root.path));
  if (asked !== null && files.length === 0)
    throw new CommandError(
      "usage",
      `There is no SKILL.md at or below ${asked}. A skill is a folder with a SKILL.md in it.`,
    );
  const errors = problems.filter(({ severity }) => severity === "error");
  if (has("json")) await print(`${JSON.stringify({ files, problems }, null, 2)}\n`);
  else await print([...problems.map(toLine), summary(files.length, problems.length)].join(""));
  return errors.length === 0 ? exitCodes.completed.code : exitCodes.failed.code;
}

const toLine = ({ path, line, severity, message }: FileProblem): string =>
  `${path}:${line ?? 1}: ${severity}: ${message}\n`;

const summary = (files: number, problems: number): string =>
  `${files} ${files === 1 ? "skill" : "skills"} checked, ${problems === 0 ? "no" : problems} ${problems === 1 ? "problem" : "problems"}.\n`;
