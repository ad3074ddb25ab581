export { type LoadedConfig, loadConfig } from "./config/load.ts";
export { ConfigProblem } from "./config/problem.ts";
export { findRuleFiles, type RuleFile, type RuleLayer } from "./rules/find.ts";
