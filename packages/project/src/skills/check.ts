// Checks skills against the agent-skills rules: one file, one skill folder, or all below a folder.
import { statSync } from "node:fs";
import { basename, join } from "node:path";
import type { FileProblem } from "../files/problem.ts";
import { findSkillFiles, readSkill } from "./read.ts";
import { repositoryFolders } from "./roots.ts";

export interface CheckedSkills {
  /** The SKILL.md files that were checked. */
  files: string[];
  problems: FileProblem[];
}

export function checkSkills(paths: string[]): CheckedSkills {
  const files = paths.flatMap(skillFilesAt);
  const problems = files.flatMap((path) => readSkill({ path, scope: "repository" }).problems);
  return { files, problems };
}

function skillFilesAt(path: string): string[] {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  if (isFile) return basename(path) === "SKILL.md" ? [path] : [];
  // Hidden folders are skipped, except those that contain skills.
  const folders = [path, ...repositoryFolders.map((folder) => join(path, folder, "skills"))];
  return folders.flatMap((folder) => findSkillFiles(folder).files.map((file) => file.path));
}
