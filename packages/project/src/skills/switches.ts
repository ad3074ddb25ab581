// Which skills are switched off: the last entry of `skills.config` that means a skill decides.
import { dirname, resolve } from "node:path";
import type { Config } from "@agentcli/protocol";
import type { Skill } from "./skill.ts";

export type SkillSwitch = NonNullable<NonNullable<Config["skills"]>["config"]>[number];

export function isSwitchedOn(skill: Pick<Skill, "name" | "path">, switches: SkillSwitch[] = []): boolean {
  return switches.findLast((entry) => means(entry, skill))?.enabled !== false;
}

/** A path leads to the file or to its folder; it says more than a name. */
const means = ({ path, name }: SkillSwitch, skill: Pick<Skill, "name" | "path">): boolean =>
  path === undefined ? name === skill.name : [skill.path, dirname(skill.path)].includes(resolve(path));
