// Finds the skills of a run. Only the front matter of each is read: three hundred of them must not delay a prompt.
import { basename } from "node:path";
import type { FileProblem } from "../files/problem.ts";
import { readTextFile } from "../files/text-file.ts";
import { findFiles, type Walk } from "../files/walk.ts";
import { visibleText } from "../sanitize/visible.ts";
import { readMetadata } from "./metadata.ts";
import type { FoundSkill, SkillRoot, SkillScope } from "./roots.ts";
import { parseSkill, type ReadSkill, type Skill } from "./skill.ts";
import { isSwitchedOn, type SkillSwitch } from "./switches.ts";

export interface Skills {
  /** Administrator, repository, user; by name within each. */
  skills: Skill[];
  problems: FileProblem[];
}

export function readSkills(roots: SkillRoot[], switches: SkillSwitch[] = []): Skills {
  const seen = new Set<string>();
  const skills: Skill[] = [];
  const problems: FileProblem[] = [];
  for (const { path: root, scope, within } of roots) {
    const { files, isCut } = findSkillFiles(root);
    if (isCut) problems.push(tooMany(root));
    for (const { path, realPath } of files) {
      if (seen.has(realPath)) continue;
      seen.add(realPath);
      const read = readSkill({ path, scope, within });
      problems.push(...read.problems);
      if (read.kind === "skill")
        skills.push({ ...withMetadata(read.skill), enabled: isSwitchedOn(read.skill, switches) });
    }
  }
  return { skills: skills.sort(byScopeAndName), problems };
}

/** What the metadata says of a skill counts where the skill itself says nothing, and can only hold it back. */
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

/** What a skill brings along is looked into only when it is used. */
const passedOver = new Set(["references", "scripts", "assets"]);

export const findSkillFiles = (root: string): Walk =>
  findFiles(root, { isWanted: (name) => name === "SKILL.md", passedOver });

const headBytes = 4_096;
const mostFrontMatterBytes = 65_536;

export function readSkill(place: FoundSkill): ReadSkill {
  const head = readHead(place, headBytes);
  return head.isCut && head.read.kind === "unusable" ? readHead(place, mostFrontMatterBytes).read : head.read;
}

function readHead(place: FoundSkill, mostBytes: number): { read: ReadSkill; isCut: boolean } {
  const { path, within = null } = place;
  const file = readTextFile(path, { mostBytes, within });
  if (file.kind === "text")
    return { read: parseSkill({ ...place, text: visibleText(file.text).text }), isCut: file.isCut };
  const message = file.kind === "missing" ? "there is no such file" : file.message;
  return { read: { kind: "unusable", problems: [{ path, line: null, severity: "error", message }] }, isCut: false };
}

const order: Record<SkillScope, number> = { admin: 0, repository: 1, user: 2 };

const byScopeAndName = (one: Skill, other: Skill): number =>
  order[one.scope] - order[other.scope] || compare(one.name, other.name) || compare(one.path, other.path);

const compare = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);

const tooMany = (path: string): FileProblem => ({
  path,
  line: null,
  severity: "warning",
  message: `there is more below ${basename(path)} than is looked through for skills; move them up or remove what is no skill`,
});
