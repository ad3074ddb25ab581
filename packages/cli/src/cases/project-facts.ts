// What the rules decide about the commands of a run, and the agents that the project offers.
import { type RunOptions, readRoles } from "@agentcli/host";
import { findRuleFiles } from "@agentcli/project";
import { settle } from "../config/settings.ts";
import { ruleLayers } from "../exec/guard.ts";
import { roleSource } from "../exec/sub-agents.ts";
import type { Program } from "../program.ts";
import type { Row } from "./facts.ts";

export async function projectFacts(
  options: RunOptions,
  program: Program,
  calls: Row[],
): Promise<{ rules: Row[]; offered: Row[] }> {
  const { loaded, settings } = await settle(options, program.environment, null);
  const trust = loaded.project.trusted ? ("trusted" as const) : ("untrusted" as const);
  const layers = ruleLayers({ cwd: settings.cwd, ignoreRules: options.ignoreRules, trust: () => trust, program });
  const files = findRuleFiles(layers);
  const commands = calls.flatMap(({ tool, input = "" }) => (tool === "exec_command" ? commandIn(input) : []));
  const { roles } = await readRoles([roleSource(loaded, settings.cwd, program.environment)]);
  return {
    rules: files.length === 0 || commands.length === 0 ? [] : await matchesOf(files, commands, program),
    offered: roles.map(({ name, description, instructions, sandbox = "", model, tools = [] }) => ({
      agent: name,
      description,
      instructions,
      sandbox,
      model,
      tools: tools.join(", "),
    })),
  };
}

async function matchesOf(
  files: ReturnType<typeof findRuleFiles>,
  commands: string[],
  program: Program,
): Promise<Row[]> {
  const { judge, openShellReader, readRuleFiles } = await import("@agentcli/project/rules");
  const { rules } = readRuleFiles(files);
  const shell = await openShellReader(program.directory);
  return commands.flatMap((command) =>
    judge(rules, shell.commandsOf(command)).matches.map(({ rule }) => ({
      command,
      decision: rule.decision,
      reason: rule.justification ?? "",
    })),
  );
}

/** Arguments that are not JSON never reached the rules. */
function commandIn(input: string): string[] {
  try {
    const { cmd } = JSON.parse(input) as { cmd?: unknown };
    return typeof cmd === "string" ? [cmd] : [];
  } catch {
    return [];
  }
}
