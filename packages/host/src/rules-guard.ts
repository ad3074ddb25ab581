// The guard of a run: the rules of its rule files first, then sandbox mode and approval policy.
import { type Guard, policyGuard } from "@agentcli/engine";
import type { RuleFile } from "@agentcli/project";

export interface RulesGuardRequest {
  files: RuleFile[];
  /** Directory of the shell grammar. */
  programDirectory: string;
  /** The error for rules that cannot be read: a run without them could do what they forbid. */
  refuse(problems: string[]): Error;
}

/** Without rule files the code for rules is not loaded. */
export async function rulesGuard({ files, programDirectory, refuse }: RulesGuardRequest): Promise<Guard> {
  if (files.length === 0) return policyGuard;
  const { openShellReader, readRuleFiles, rulesGuard: guardOf } = await import("@agentcli/project/rules");
  const { rules, problems } = readRuleFiles(files);
  if (problems.length > 0) throw refuse(problems);
  return guardOf(rules, policyGuard, { openShellReader: () => openShellReader(programDirectory) });
}
