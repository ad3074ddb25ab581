export { type AgentRoles, type AgentSources, type DeclaredTable, readAgentRoles } from "./agents/read.ts";
export { type AgentRole, builtInRoles } from "./agents/role.ts";
export { type CommandRoot, commandRoots } from "./commands/roots.ts";
export { ConfigError } from "./config/config-error.ts";
export { defaults, type EffectiveConfig, type ModelConfig } from "./config/defaults.ts";
export { durationMs, maxTimerMs, wait } from "./config/duration.ts";
export type { UnknownKeys } from "./config/files.ts";
export {
  findHookFiles,
  type HookFile,
  type HookSearch,
  type HookState,
  readHookStates,
  repositoryHookFiles,
} from "./config/hook-files.ts";
export { type ConfigRequest, type FlagValue, type LoadedConfig, loadConfig } from "./config/load.ts";
export { describeOrigin, type Layer, type Origin, type Origins } from "./config/origin.ts";
export { type Requirements, type Rule, readRequirements, refusalOf } from "./config/requirements.ts";
export { readUnblocked } from "./files/unblocked.ts";
/** Loaded when a file is read or written. */
export const loadToml = () => import("./config/toml.ts");
/** Loaded by one command. */
export const loadForeignConfig = () => import("./config/foreign.ts");
export { dottedKey, type Leaf, leavesOf, quoted, type Table, valueAt } from "./config/table.ts";
export {
  type ContextRequest,
  openContext,
  type ProjectContext,
  type SkillOptions,
  type ThreadTexts,
} from "./context/context.ts";
export { joinContexts } from "./context/join.ts";
export type { PromptTexts } from "./context/prompt-texts.ts";
export { directoriesBetween } from "./files/directories.ts";
export { describeProblem, type FileProblem } from "./files/problem.ts";
export {
  defaultMaxBytes,
  type InstructionSources,
  type Instructions,
  readInstructions,
  type SourcedText,
} from "./instructions/agents-md.ts";
export {
  repositorySkillRoots,
  type SkillDirectories,
  type SkillRoot,
  type SkillScope,
  skillRoots,
} from "./skills/roots.ts";
export type { Skill } from "./skills/skill.ts";
export type { SkillSwitch } from "./skills/switches.ts";
export { findProject, type Project } from "./trust/project.ts";
export { isTrusted, trustLevel } from "./trust/trusted.ts";

/** Loaded when used: it edits a file, which no run needs. */
export const trustProject = async (configFile: string, root: string): Promise<void> =>
  (await import("./config/write-trust.ts")).trustProject(configFile, root);
export { findRuleFiles, type RuleFile, type RuleLayer } from "./config/rule-files.ts";
export { tomlValue } from "./config/toml-value.ts";
