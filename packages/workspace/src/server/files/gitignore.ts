// What the .gitignore files of a repository exclude.
import { existsSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { type IgnoreFile, isIgnored, readRules } from "../../ignore/index.ts";
import { readRegular } from "./regular.ts";

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

const maxBytes = 1024 * 1024;

async function readIgnoreFile(directory: string): Promise<IgnoreFile | null> {
  const content = await readRegular(join(directory, ".gitignore"), maxBytes);
  if (content.kind === "unreadable") return null;
  return { directory, rules: readRules(content.bytes.toString("utf8")) };
}
