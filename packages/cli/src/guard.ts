// The guard of a run: rules of machine, user and project in front of what sandbox and approvals say.
import { dirname, join } from "node:path";
import { type Guard, policyGuard } from "@agentcli/engine";
import { ConfigProblem, findRuleFiles, type RuleLayer } from "@agentcli/project";
import { findRepositoryRoot } from "@agentcli/workspace";
import type { Program } from "./program.ts";

export interface GuardRequest {
  cwd: string;
  /** Only the rules of the machine count. */
  ignoreRules: boolean;
  /** What a directory of the project may bring. */
  trust(directory: string): "trusted" | "untrusted";
  program: Program;
}

/** Without rules files nothing of the rules is loaded. */
export async function composeGuard(request: GuardRequest): Promise<Guard> {
  const { environment, directory } = request.program;
  const own: RuleLayer[] = [{ directory: environment.agentHome, kind: "user" }, ...projectLayers(request)];
  const system: RuleLayer = { directory: environment.systemDirectory, kind: "system" };
  const files = findRuleFiles([system, ...(request.ignoreRules ? [] : own)]);
  if (files.length === 0) return policyGuard;
  const { openShellReader, readRuleFiles, rulesGuard } = await import("@agentcli/project/rules");
  const { rules, problems } = readRuleFiles(files);
  if (problems.length > 0) throw new ConfigProblem(`Error loading rules:\n${problems.join("\n")}`);
  return rulesGuard(rules, policyGuard, { openShellReader: () => openShellReader(directory) });
}

/** Every `.agentcli` from the top of the repository down to the working directory. */
function projectLayers({ cwd, trust }: GuardRequest): RuleLayer[] {
  const top = findRepositoryRoot(cwd) ?? cwd;
  const directories = [cwd];
  for (let here = cwd; here !== top; ) {
    here = dirname(here);
    directories.unshift(here);
  }
  return directories.map((directory) => ({
    directory: join(directory, ".agentcli"),
    kind: `project-${trust(directory)}`,
  }));
}
