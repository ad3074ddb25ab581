// The guard of a run: rules of machine, user and project, before sandbox and approvals.
import { dirname, join } from "node:path";
import type { Guard } from "@agentcli/engine";
import { rulesGuard } from "@agentcli/host";
import { ConfigError, findRuleFiles, type RuleLayer } from "@agentcli/project";
import { findRepositoryRoot } from "@agentcli/workspace";
import type { Program } from "../program.ts";

export interface GuardRequest {
  cwd: string;
  /** Only the rules of the machine count. */
  ignoreRules: boolean;
  /** What a directory of the project may bring. */
  trust(directory: string): "trusted" | "untrusted";
  program: Program;
}

export function composeGuard(request: GuardRequest): Promise<Guard> {
  return rulesGuard({
    files: findRuleFiles(ruleLayers(request)),
    programDirectory: request.program.directory,
    refuse: (problems) => new ConfigError(`Error loading rules:\n${problems.join("\n")}`),
  });
}

/** Where the rules of a run are. */
export function ruleLayers(request: GuardRequest): RuleLayer[] {
  const { environment } = request.program;
  const own: RuleLayer[] = [{ directory: environment.agentHome, kind: "user" }, ...projectLayers(request)];
  const system: RuleLayer = { directory: environment.systemDirectory, kind: "system" };
  return [system, ...(request.ignoreRules ? [] : own)];
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
