// Skills and commands: found, read, listed and called by name. Loaded where there are any.
export { type Commands, readCommands } from "./commands/read.ts";
export { type Catalogue, catalogueBudget, skillCatalogue } from "./skills/catalogue.ts";
export { checkSkills } from "./skills/check.ts";
export { type Mentions, mentionedSkills, skillMessage } from "./skills/mentions.ts";
export type { SkillDependency } from "./skills/metadata.ts";
export { readSkills, type Skills } from "./skills/read.ts";
export type { Skill } from "./skills/skill.ts";
export { isEnabled, type SkillSwitch } from "./skills/switches.ts";
