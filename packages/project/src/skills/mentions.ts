// Skills that a prompt names: `$name`, `[$name](path)` or, at its start, `/name`.
import { dirname, resolve } from "node:path";
import type { FileProblem } from "../files/problem.ts";
import { readTextFile } from "../files/text-file.ts";
import { visibleText } from "../sanitize/visible.ts";
import type { Skill } from "./skill.ts";

export interface Mentions {
  skills: Skill[];
  /** Names that could mean more than one skill. */
  ambiguous: { name: string; paths: string[] }[];
  /** Names that no skill has. */
  unknown: string[];
}

/** Variables that occur in prompts about shells. */
const variables = new Set([
  ...["PATH", "HOME", "USER", "SHELL", "PWD", "TMPDIR", "TEMP", "TMP", "LANG", "TERM", "XDG_CONFIG_HOME"],
]);

export function mentionedSkills(prompt: string, skills: Skill[]): Mentions {
  const linked = [...prompt.matchAll(/\[\$([A-Za-z0-9_:-]+)\]\((?:skill:\/\/)?([^()\s]+)\)/g)];
  const found = new Set(linked.flatMap(([, , path = ""]) => skills.filter((skill) => leadsTo(path, skill))));
  const byLink = new Set(linked.map(([, name]) => name));
  const ambiguous: Mentions["ambiguous"] = [];
  for (const name of namesIn(prompt)) {
    if (byLink.has(name)) continue;
    const meant = meanings(name, skills);
    if (meant.length > 1) ambiguous.push({ name, paths: meant.map(({ path }) => path) });
    else for (const skill of meant) found.add(skill);
  }
  const unknown = calledNames(prompt).filter((name) => meanings(name, skills).length === 0);
  return { skills: [...found], ambiguous, unknown };
}

/** Names that can only be meant as skills: not within code or piped data, not a variable, an amount or part of a word. */
function calledNames(prompt: string): string[] {
  const own = prompt.replace(/```[\s\S]*?(?:```|$)|`[^`\n]*`|<stdin>[\s\S]*/g, " ");
  const names = [...own.matchAll(/(?<![^\s(])\[?\$([A-Za-z][\w:-]*)/g)].map(([, name = ""]) =>
    name.replace(/[:-]+$/, ""),
  );
  return [...new Set(names)].filter((name) => !/^[A-Z0-9_]+$/.test(name));
}

function namesIn(prompt: string): string[] {
  const called = /^\s*\/([a-z0-9][a-z0-9-]*)(?=\s|$)/.exec(prompt)?.[1];
  const named = [...prompt.matchAll(/\$([A-Za-z0-9_:-]+)/g)].map(([, name = ""]) => name);
  return [...new Set([...(called === undefined ? [] : [called]), ...named])].filter((name) => !variables.has(name));
}

/** A colon or hyphen after a name may be punctuation. */
function meanings(name: string, skills: Skill[]): Skill[] {
  const exact = skills.filter((skill) => skill.name === name);
  const trimmed = name.replace(/[:-]+$/, "");
  return exact.length > 0 ? exact : skills.filter((skill) => skill.name === trimmed);
}

const leadsTo = (path: string, skill: Skill): boolean =>
  [skill.path, dirname(skill.path)].includes(resolve("/", path)) ||
  skill.path.endsWith(`/${path.replace(/^\.?\/+/, "")}`);

const maxSkillBytes = 262_144;

/** The whole SKILL.md, as the model reads it. */
export function skillMessage({ name, path, within = null }: Skill): { text: string } | FileProblem {
  const file = readTextFile(path, { maxBytes: maxSkillBytes, within });
  if (file.kind !== "text") {
    const message = file.kind === "missing" ? "the skill is gone" : file.message;
    return { path, line: null, severity: "error", message };
  }
  const { text } = visibleText(file.text);
  const rest = file.isCut ? `\n[cut after ${maxSkillBytes} bytes; read on in the file]` : "";
  return { text: `<skill>\n<name>${name}</name>\n<path>${path}</path>\n${text.trimEnd()}${rest}\n</skill>` };
}
