// A rule for commands like the one at hand: patterns to choose from, each with the earlier commands that it matches.
import { join } from "node:path";
import { visible } from "../text/index.ts";
import { note } from "../transcript/index.ts";
import { shortPath } from "./look.ts";
import { openPicker } from "./picker.ts";
import type { App } from "./state.ts";

/** The model's proposal first, then the command itself and its beginnings. */
export function rulePatterns(command: string, proposed: string[] | null): string[][] {
  const isPlain = !/["'`$\\;&|<>(){}*?~#\n]/.test(command);
  const words = isPlain ? command.trim().split(/\s+/) : [];
  const beginnings = [words.length, 3, 2].map((count) => words.slice(0, count)).filter(isUseful(words));
  const all = [...(proposed ? [proposed] : []), ...beginnings];
  return all.filter((pattern, index) => all.findIndex((other) => isSame(other, pattern)) === index);
}

/** One word alone would allow a whole program, and an option at the end what it was not meant for: `bash -c`. */
const isUseful =
  (words: string[]) =>
  (pattern: string[]): boolean =>
    pattern.length > 0 && (pattern.length === words.length || !pattern.at(-1)?.startsWith("-"));

const isSame = (left: string[], right: string[]): boolean => JSON.stringify(left) === JSON.stringify(right);

/** Commands that the pattern would have allowed. */
export const matching = (pattern: string[], commands: string[]): string[] =>
  commands.filter(
    (command) =>
      rulePatterns(command, null).length > 0 && isSame(command.split(/\s+/).slice(0, pattern.length), pattern),
  );

interface RuleRequest {
  patterns: string[][];
  choose(pattern: string[]): void;
  /** Nothing was chosen: the question is asked again. */
  back(): void;
}

export function chooseRule(app: App, { patterns, choose, back }: RuleRequest): void {
  const { options, state } = app;
  const file = join(options.agentHome, "rules", "default.rules");
  const where = options.trustHooks ? shortPath(file) : "rules/default.rules of its agent home";
  const earlier = state.transcript.commands();
  openPicker(app, {
    title: `Always allow, in ${where}:`,
    entries: patterns.map((pattern) => ({
      label: `${pattern.join(" ")} …`,
      detail: preview(matching(pattern, earlier)),
      value: pattern,
    })),
    choose(pattern) {
      choose(pattern);
      const rule = `prefix_rule(pattern=${JSON.stringify(pattern)}, decision="allow")`;
      state.transcript.print(note("§", `Rule added to ${where}: ${rule}`));
    },
    dismiss: back,
  });
}

function preview(commands: string[]): string {
  if (commands.length === 0) return "matches no earlier command of this thread";
  const shown = commands.slice(-2).map((command) => visible(command).slice(0, 40));
  return `matches ${commands.length} earlier: ${shown.join(", ")}`;
}
