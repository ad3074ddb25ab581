// Whether a project's configuration is used: only when the user trusts it.
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { Config, TrustLevel } from "@agentcli/protocol";
import { findProject, type Project } from "./project.ts";

/** The directory is absolute and without symbolic links. */
export function isTrusted(directory: string, config: Pick<Config, "projects" | "project_root_markers">): boolean {
  const project = findProject(directory, config.project_root_markers ?? [".git"]);
  return trustLevel(directory, project, config.projects ?? {}) === "trusted";
}

/** The nearest decision counts: for the directory, for its project, for the main checkout of a worktree. */
export function trustLevel(
  directory: string,
  { root, mainRoot }: Project,
  projects: NonNullable<Config["projects"]>,
): TrustLevel | undefined {
  for (const candidate of [directory, root, mainRoot]) {
    const [, entry] = Object.entries(projects).find(([path]) => isSame(path, candidate)) ?? [];
    if (entry?.trust_level) return entry.trust_level;
  }
  return undefined;
}

function isSame(path: string, directory: string): boolean {
  if (resolve(path) === directory) return true;
  try {
    return realpathSync(path) === directory;
  } catch {
    return false;
  }
}
