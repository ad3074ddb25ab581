// Finds the skills of a run. Only their front matter is read, so that 300 of them do not delay a prompt.
import { realpathSync } from "node:fs";
import { basename, dirname } from "node:path";
import { withoutEffect } from "../commands/command.ts";
import { contains } from "../files/directories.ts";
import type { FileProblem } from "../files/problem.ts";
import { readTextFile } from "../files/text-file.ts";
import { type FoundFile, findFiles, type Walk } from "../files/walk.ts";
import { visibleText } from "../sanitize/visible.ts";
import { readMetadata } from "./metadata.ts";
import type { SkillPath, SkillRoot, SkillScope } from "./roots.ts";
import { parseSkill, type ReadSkill, type Skill } from "./skill.ts";
import { isEnabled, type SkillSwitch } from "./switches.ts";

export interface Skills {
  /** Administrator, repository, user; by name within each. */
  skills: Skill[];
  problems: FileProblem[];
  /** Files of other tools that are not used, and what has no effect in the others. */
  notes: FileProblem[];
}

export function readSkills(roots: SkillRoot[], switches: SkillSwitch[] = []): Skills {
  const seen = new Set<string>();
  const skills: Skill[] = [];
  const problems: FileProblem[] = [];
  const notes: FileProblem[] = [];
  for (const skillRoot of roots) {
    const { path: root, scope, otherTool } = skillRoot;
    const { files, isCut } = findSkillFiles(root);
    const found = otherTool ? notes : problems;
    const own = otherTool ? new Map(skills.map(({ name, path }) => [name, path])) : null;
    if (isCut) found.push(tooMany(root));
    for (const { path, realPath } of files) {
      if (seen.has(realPath)) continue;
      seen.add(realPath);
      const read = readSkill({ path, scope, within: limitOf(skillRoot, { path, realPath }) });
      found.push(...read.problems);
      if (read.kind !== "skill") continue;
      const winner = own?.get(read.skill.name);
      if (winner !== undefined) notes.push(notUsed(path, winner));
      else skills.push({ ...withMetadata(read.skill), enabled: isEnabled(read.skill, switches) });
      if (otherTool) notes.push(...read.unsupported.map((key) => warning(path, withoutEffect(key))));
    }
  }
  return { skills: skills.sort(byScopeAndName), problems, notes };
}

/** A repository must not make the files of the user into skills, whose text the model gets. */
function limitOf({ within, project }: SkillRoot, { path, realPath }: FoundFile): string | null {
  if (within || project === undefined) return within ?? null;
  return contains(project, realPath) ? project : realpathSync(dirname(path));
}

const warning = (path: string, message: string): FileProblem => ({ path, line: null, severity: "warning", message });
const notUsed = (path: string, winner: string): FileProblem =>
  warning(path, `not used: ${winner} has the same name and comes first`);

/** Metadata fills in what the skill itself leaves out, and can only restrict it. */
function withMetadata(skill: Skill): Skill {
  const { interface: shown, mayBeChosen, dependencies } = readMetadata(skill);
  const isSilent = skill.shortDescription === skill.description;
  return {
    ...skill,
    ...(isSilent && shown.short_description && { shortDescription: shown.short_description }),
    invocation: mayBeChosen ? skill.invocation : "by-name",
    interface: shown,
    dependencies,
  };
}

/** Files of a skill are read only when it is used. */
const skippedDirectories = new Set(["references", "scripts", "assets"]);

export const findSkillFiles = (root: string): Walk =>
  findFiles(root, { matchesName: (name) => name === "SKILL.md", skippedDirectories });

const headBytes = 4_096;
const maxFrontMatterBytes = 65_536;

export function readSkill(skillPath: SkillPath): ReadSkill {
  const head = readHead(skillPath, headBytes);
  return head.isCut && head.read.kind === "unusable" ? readHead(skillPath, maxFrontMatterBytes).read : head.read;
}

function readHead(skillPath: SkillPath, maxBytes: number): { read: ReadSkill; isCut: boolean } {
  const { path, within = null } = skillPath;
  const file = readTextFile(path, { maxBytes, within });
  if (file.kind === "text")
    return { read: parseSkill({ ...skillPath, text: visibleText(file.text).text }), isCut: file.isCut };
  const message = file.kind === "missing" ? "there is no such file" : file.message;
  return { read: { kind: "unusable", problems: [{ path, line: null, severity: "error", message }] }, isCut: false };
}

const order: Record<SkillScope, number> = { admin: 0, repository: 1, user: 2 };

const byScopeAndName = (one: Skill, other: Skill): number =>
  order[one.scope] - order[other.scope] || compare(one.name, other.name) || compare(one.path, other.path);

const compare = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);

const tooMany = (path: string): FileProblem =>
  warning(
    path,
    `there is more below ${basename(path)} than is searched for skills; move them up or remove other files`,
  );
