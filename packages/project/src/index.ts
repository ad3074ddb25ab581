export { defaults, type EffectiveConfig } from "./config/defaults.ts";
export type { UnknownKeys } from "./config/files.ts";
export { type ConfigRequest, type FlagValue, type LoadedConfig, loadConfig } from "./config/load.ts";
export { describeOrigin, type Layer, type Origin, type Origins } from "./config/origin.ts";
export { ConfigProblem } from "./config/problem.ts";
export { type Requirements, type Rule, refusalOf } from "./config/requirements.ts";
export { dottedKey, type Leaf, leavesOf, quoted, type Table } from "./config/table.ts";
export { findHookFiles, type HookFile, type HookSearch, type HookState, readHookStates } from "./hooks/find.ts";
export { findProject, type Project } from "./trust/project.ts";
export { isTrusted, trustLevel } from "./trust/trusted.ts";

/** Loaded when used: it edits a file, which no run does. */
export const trustProject = async (configFile: string, root: string): Promise<void> =>
  (await import("./trust/write.ts")).trustProject(configFile, root);
export { findRuleFiles, type RuleFile, type RuleLayer } from "./rules/find.ts";
