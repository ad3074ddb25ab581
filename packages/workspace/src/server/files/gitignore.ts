// What the .gitignore files of a repository exclude. As in git, the last rule that matches decides, the deepest file first.
import { existsSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { globExpression } from "./glob.ts";
import { readRegular } from "./regular.ts";

interface Rule {
  expression: RegExp;
  negated: boolean;
  directoriesOnly: boolean;
}

interface IgnoreFile {
  directory: string;
  rules: Rule[];
}

/** The rules that apply in one directory; none outside of a repository. */
export interface IgnoreRules {
  /** `path` is an entry of that directory. */
  ignores(path: string, kind: "directory" | "other"): boolean;
  /** The rules in a subdirectory. */
  enter(directory: string): Promise<IgnoreRules>;
}

/** `directory` is absolute. Whether it is itself ignored does not count: it was named. */
export async function ignoreRulesIn(directory: string): Promise<IgnoreRules> {
  const top = repositoryAbove(directory);
  if (top === null) return noRules;
  const below = relative(top, directory)
    .split(sep)
    .filter((name) => name !== "");
  let rules = await withFileOf(top, []);
  let at = top;
  for (const name of below) {
    at = join(at, name);
    rules = await rules.enter(at);
  }
  return rules;
}

const noRules: IgnoreRules = {
  ignores: () => false,
  enter: (directory) => (existsSync(join(directory, ".git")) ? ignoreRulesIn(directory) : Promise.resolve(noRules)),
};

function repositoryAbove(directory: string): string | null {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (at === dirname(at)) return null;
  }
}

async function withFileOf(directory: string, above: IgnoreFile[]): Promise<IgnoreRules> {
  const own = await readIgnoreFile(directory);
  const files = own === null ? above : [own, ...above];
  return {
    ignores: (path, kind) => isIgnored(files, path, kind),
    enter: (child) => withFileOf(child, files),
  };
}

/** The deepest file comes first. */
function isIgnored(files: IgnoreFile[], path: string, kind: "directory" | "other"): boolean {
  for (const { directory, rules } of files) {
    const name = relative(directory, path);
    const rule = rules.findLast(
      ({ expression, directoriesOnly }) => (kind === "directory" || !directoriesOnly) && expression.test(name),
    );
    if (rule) return !rule.negated;
  }
  return false;
}

const maxBytes = 1024 * 1024;

async function readIgnoreFile(directory: string): Promise<IgnoreFile | null> {
  const content = await readRegular(join(directory, ".gitignore"), maxBytes);
  if (content.kind === "unreadable") return null;
  const rules = content.bytes.toString("utf8").split(/\r?\n/).flatMap(readRule);
  return { directory, rules };
}

/** None for blank lines, comments and patterns that cannot be read. */
export function readRule(line: string): Rule[] {
  const text = line.replace(/(?<!\\)\s+$/, "");
  if (text === "" || text.startsWith("#")) return [];
  const negated = text.startsWith("!");
  const pattern = negated ? text.slice(1) : text;
  const directoriesOnly = pattern.endsWith("/");
  const body = pattern.replace(/\/+$/, "");
  if (body === "") return [];
  const anchored = body.includes("/");
  // Braces and commas have no meaning here.
  const glob = body.replace(/^\//, "").replace(/(?<!\\)[{},]/g, "\\$&");
  const expression = globExpression(glob, anchored ? "path" : "name");
  return expression === null ? [] : [{ expression, negated, directoriesOnly }];
}
