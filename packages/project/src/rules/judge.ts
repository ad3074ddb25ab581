// The decision of the rules about commands: the strictest of all that match.
import { posix } from "node:path";
import type { Command, Commands } from "../shell/commands.ts";
import { isKnown } from "../shell/word.ts";
import { matchesPattern } from "./match.ts";
import type { Decision, PrefixRule, Ranked, RuleSet } from "./rule.ts";

export interface Match {
  command: Command;
  rule: PrefixRule;
  /** The words of the command that the pattern matches. */
  prefix: string[];
  /** The absolute path, where the rule names only the program. */
  resolvedProgram: string | null;
}

export interface Judgement {
  /** `unmatched`: at least one command has no rule, and no rule forbids any. */
  decision: Decision | "unmatched";
  matches: Match[];
}

export function judge(rules: RuleSet, commands: Commands): Judgement {
  const judged = commands.commands.map((command) => ({ command, matches: matchesOf(command, rules) }));
  const matches = judged.flatMap((one) => one.matches);
  const has = (decision: Decision) => matches.some(({ rule }) => rule.decision === decision);
  if (has("forbidden")) return { decision: "forbidden", matches };
  if (has("prompt")) return { decision: "prompt", matches };
  // A wrapper without its own rule is judged by the command it runs.
  const isAllowed = judged.every((one) => one.matches.length > 0 || one.command.wraps);
  const everythingIsAllowed = commands.kind === "commands" && matches.length > 0 && isAllowed;
  return { decision: everythingIsAllowed ? "allow" : "unmatched", matches };
}

/** Rules for the program as written come first; an absolute path without one is judged by the rules for its name. */
function matchesOf(command: Command, rules: RuleSet): Match[] {
  const exact = rules.prefixes.filter((rule) => matchesPattern(rule.pattern, command.words));
  if (exact.length > 0) return exact.map((rule) => match(rule, command, null));
  const [program, ...rest] = command.words;
  if (!isKnown(program) || !program.startsWith("/")) return [];
  const named = [posix.basename(program), ...rest];
  return rules.prefixes
    .filter((rule) => matchesPattern(rule.pattern, named) && mayStandFor(program, rule, rules))
    .map((rule) => match(rule, { ...command, words: named }, program));
}

function mayStandFor(program: string, rule: Ranked<PrefixRule>, { executables }: RuleSet): boolean {
  const name = posix.basename(program);
  const lists = executables.filter((list) => list.name === name && list.rank >= rule.rank);
  return lists.length === 0 || lists.some((list) => list.paths.includes(posix.normalize(program)));
}

const match = (rule: PrefixRule, command: Command, resolvedProgram: string | null): Match => ({
  command: resolvedProgram ? { ...command, words: [resolvedProgram, ...command.words.slice(1)] } : command,
  rule,
  prefix: command.words.slice(0, rule.pattern.length).filter(isKnown),
  resolvedProgram,
});
