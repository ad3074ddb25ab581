// `agentcli execpolicy check`: what rules files decide about one command, as JSON. Nothing is run.
import { resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { ConfigError } from "@agentcli/project";
import { type Judgement, judge, type Match, openShellReader, readRuleFiles } from "@agentcli/project/rules";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";

export async function run({ positionals, list, has }: Invocation, program: Program): Promise<number> {
  const files = list("rules").map((file) => resolve(program.environment.cwd, file));
  if (files.length === 0) throw new CommandError("usage", "No rules given. Pass at least one file: --rules FILE.");
  if (positionals.length === 0)
    throw new CommandError("usage", "No command given. Pass it after --, such as -- git push.");
  const { rules, problems } = readRuleFiles(files.map((path) => ({ path, kind: "user" })));
  if (problems.length > 0) throw new ConfigError(`Error loading rules:\n${problems.join("\n")}`);
  const shell = await openShellReader(program.directory);
  const report = reportOf(judge(rules, shell.commandsOfWords(positionals)));
  await program.print(`${JSON.stringify(report, null, has("pretty") ? 2 : 0)}\n`);
  return exitCodes.completed.code;
}

const reportOf = ({ decision, matches }: Judgement) => ({
  matchedRules: matches.map((match) => ({ prefixRuleMatch: reportMatch(match) })),
  ...(decision === "unmatched" ? {} : { decision }),
});

const reportMatch = ({ rule, prefix, resolvedProgram }: Match) => ({
  matchedPrefix: prefix,
  decision: rule.decision,
  ...(resolvedProgram === null ? {} : { resolvedProgram }),
  ...(rule.justification === null ? {} : { justification: rule.justification }),
});
