// The rules of ignore files. As in git, the last rule that matches decides, the deepest file first.
import { compilePattern } from "./pattern.ts";

interface Rule {
  /** Of a path below the directory of the file. */
  matches(path: string): boolean;
  negated: boolean;
  directoriesOnly: boolean;
}

export interface IgnoreFile {
  /** Absolute. */
  directory: string;
  rules: Rule[];
}

/** For patterns that are not trusted: one of this length takes milliseconds for the longest path. */
export const maxPatternLength = 1_024;

/** The deepest file comes first; the path is below all of them. */
export function isIgnored(files: IgnoreFile[], path: string, kind: "directory" | "other"): boolean {
  const judging = judge(files, path, kind);
  for (;;) {
    const step = judging.next();
    if (step.done) return step.value;
  }
}

/** The same, with a pause after each rule: there may be many, each of them slow. */
export function* judge(files: IgnoreFile[], path: string, kind: "directory" | "other"): Generator<void, boolean> {
  for (const { directory, rules } of files) {
    const below = path.slice(directory === "/" ? 1 : directory.length + 1);
    for (let at = rules.length - 1; at >= 0; at -= 1) {
      const rule = rules[at];
      if (rule && (kind === "directory" || !rule.directoriesOnly) && rule.matches(below)) return !rule.negated;
      yield;
    }
  }
  return false;
}

export const readRules = (text: string): Rule[] => text.split(/\r?\n/).flatMap(readRule);

/** None for blank lines and comments. */
export function readRule(line: string): Rule[] {
  const text = withoutTrailingSpaces(line);
  if (text === "" || text.startsWith("#")) return [];
  const negated = text.startsWith("!");
  const pattern = negated ? text.slice(1) : text;
  const directoriesOnly = pattern.endsWith("/");
  const body = directoriesOnly ? pattern.slice(0, -1) : pattern;
  if (body === "") return [];
  return [{ matches: matcherOf(body), negated, directoriesOnly }];
}

/** Without a slash it judges the name, in whatever directory. */
function matcherOf(body: string): Rule["matches"] {
  if (body.includes("/")) return compilePattern(body.startsWith("/") ? body.slice(1) : body, "path");
  const matchesName = compilePattern(body, "name");
  return (path) => matchesName(path.slice(path.lastIndexOf("/") + 1));
}

/** A backslash keeps the space behind it. */
function withoutTrailingSpaces(line: string): string {
  const end = line.replace(/ +$/, "").length;
  return line.slice(0, end < line.length && isEscapedAt(line, end) ? end + 1 : end);
}

/** Whether an odd number of backslashes stands before it. */
function isEscapedAt(line: string, at: number): boolean {
  let backslashes = 0;
  while (line[at - 1 - backslashes] === "\\") backslashes += 1;
  return backslashes % 2 === 1;
}
