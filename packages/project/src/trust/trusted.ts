// Whether a project's own configuration counts: only when its user said so.
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { Config, TrustLevel } from "@agentcli/protocol";
import { findProject, type Project } from "./project.ts";

/** The directory is absolute and without symbolic links. */
export function isTrusted(directory: string, config: Pick<Config, "projects" | "project_root_markers">): boolean {
  const project = findProject(directory, config.project_root_markers ?? [".git"]);
  return trustLevel(directory, project, config.projects ?? {}) === "trusted";
}

/** The nearest decision holds: for the directory, for its project, for the repository a worktree belongs to. */
export function trustLevel(
  directory: string,
  { root, mainRoot }: Project,
  projects: NonNullable<Config["projects"]>,
): TrustLevel | undefined {
  for (const place of [directory, root, mainRoot]) {
    const [, entry] = Object.entries(projects).find(([path]) => isSame(path, place)) ?? [];
    if (entry?.trust_level) return entry.trust_level;
  }
  return undefined;
}

function isSame(path: string, place: string): boolean {
  if (resolve(path) === place) return true;
  try {
    return realpathSync(path) === place;
  } catch {
    return false;
  }
}
