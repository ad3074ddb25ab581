export { type AgentPlaces, type AgentRoles, readAgentRoles } from "./agents/read.ts";
export { type AgentRole, builtInRoles } from "./agents/role.ts";
export { type LoadedConfig, loadConfig } from "./config/load.ts";
export { ConfigProblem } from "./config/problem.ts";
export { directoriesBetween } from "./files/places.ts";
export { describeProblem, type FileProblem } from "./files/problem.ts";
export {
  defaultMaxBytes,
  type InstructionPlaces,
  type Instructions,
  readInstructions,
  type SourcedText,
} from "./instructions/agents-md.ts";
export { type NestedPlaces, nestedInstructions, readNested, type Touched } from "./instructions/nested.ts";
export {
  mentionedRules,
  type Rule,
  type Rules,
  readRules,
  ruleBody,
  ruleMessage,
  ruleTexts,
} from "./instructions/rules.ts";
export { type Catalogue, catalogueBudget, skillCatalogue } from "./skills/catalogue.ts";
export { checkSkills } from "./skills/check.ts";
export { type Mentions, mentionedSkills, skillMessage } from "./skills/mentions.ts";
export { readSkills, type Skills } from "./skills/read.ts";
export { type SkillPlaces, type SkillRoot, type SkillScope, skillRoots } from "./skills/roots.ts";
export type { Skill } from "./skills/skill.ts";
