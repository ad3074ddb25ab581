// `[[skills.config]]`: skills that a user or a project disabled. The last matching entry wins.
import { realpathSync } from "node:fs";
import { basename, dirname } from "node:path";

export interface SkillSwitch {
  /** Of its SKILL.md or its folder, absolute. */
  path?: string | undefined;
  name?: string | undefined;
  enabled?: boolean | undefined;
}

export function isEnabled(skill: { name: string; path: string }, switches: SkillSwitch[] = []): boolean {
  return switches.findLast((each) => means(each, skill))?.enabled ?? true;
}

/** An entry without path and name matches no skill. */
function means({ path, name }: SkillSwitch, skill: { name: string; path: string }): boolean {
  if (path === undefined) return name === skill.name;
  const folder = (file: string) => (basename(file) === "SKILL.md" ? dirname(file) : file);
  const isThere = real(folder(path)) === real(folder(skill.path));
  return isThere && (name === undefined || name === skill.name);
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
