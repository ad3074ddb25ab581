export { openShellReader, type ShellReader } from "../shell/commands.ts";
export { rulesGuard } from "./guard.ts";
export { type Judgement, judge, type Match } from "./judge.ts";
export { type LoadedRules, loadRules, readRuleFiles } from "./load.ts";
export type { Decision, HostExecutable, NetworkRule, PrefixRule, RuleSet } from "./rule.ts";
