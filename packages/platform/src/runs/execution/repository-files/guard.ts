// The guard of a run: rules of the repositories in `.agentcli/rules` forbid commands before sandbox and approvals are consulted.
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Guard } from "@agentcli/engine";
import { rulesGuard } from "@agentcli/host";
import { findRuleFiles, type RuleFile } from "@agentcli/project";
import { RunFault } from "../fault.ts";

/**
 * Repositories are not trusted here, so rules that allow are ignored. Throws RunFault if rules cannot be
 * read: a run without them could do what they forbid.
 */
export const repositoryGuard = (roots: string[], programDirectory: string): Promise<Guard> =>
  rulesGuard({
    files: roots.flatMap(rulesOf),
    programDirectory,
    refuse: (problems) =>
      new RunFault("invalid_rules", `The rules of the repository are not valid. ${shown(problems, roots)}`),
  });

/** Does not follow links out of the repository: an error message would reveal content of the file. */
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
