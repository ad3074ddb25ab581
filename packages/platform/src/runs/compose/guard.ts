// The guard of a run: what the repositories forbid in `.agentcli/rules`, in front of what sandbox and approvals say.
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Guard, policyGuard } from "@agentcli/engine";
import { findRuleFiles, type RuleFile } from "@agentcli/project";
import { RunFault } from "../fault.ts";

/**
 * Nobody trusts a repository here, so what its rules allow is not counted. Throws RunFault where one of them cannot be
 * read: a run without it would do what it is there to prevent.
 */
export async function composeGuard(roots: string[], programDirectory: string): Promise<Guard> {
  const files = roots.flatMap(rulesOf);
  if (files.length === 0) return policyGuard;
  const { openShellReader, readRuleFiles, rulesGuard } = await import("@agentcli/project/rules");
  const { rules, problems } = readRuleFiles(files);
  if (problems.length > 0)
    throw new RunFault("invalid_rules", `The rules of the repository have mistakes. ${shown(problems, roots)}`);
  return rulesGuard(rules, policyGuard, { openShellReader: () => openShellReader(programDirectory) });
}

/** Links that lead out of the repository are not followed: what is wrong with a file is told. */
const rulesOf = (root: string): RuleFile[] =>
  findRuleFiles([{ directory: join(root, ".agentcli"), kind: "project-untrusted" }]).filter(({ path }) =>
    realPath(path)?.startsWith(`${realPath(root)}/`),
  );

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

const shown = (problems: string[], roots: string[]): string =>
  roots.reduce((text, root) => text.replaceAll(`${dirname(root)}/`, ""), problems.join(" "));
