// Ignore files, read as git reads them.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { isIgnored, readRules } from "../../src/ignore/index.ts";
import { temporaryDirectory } from "../support/locations.ts";

const files = ["a", "b", "a.pem", "b.pem", ".env", "env", "a b", "[x]", "x", "!n", "#c"];
const directories = ["", "d", "d/a", "d/a/b", "x y", "[d]"];
const paths = directories.flatMap((directory) => files.map((name) => join(directory, `${name}.f`))).sort();

const repository = temporaryDirectory();
afterAll(() => rmSync(repository, { recursive: true }));
const git = (input: string, ...args: string[]) =>
  execFileSync("git", args, { cwd: repository, input, encoding: "utf8" });
git("", "init", "-q");
for (const directory of directories) mkdirSync(join(repository, directory), { recursive: true });

function ignoredByGit(lines: string[]): string[] {
  writeFileSync(join(repository, ".gitignore"), lines.join("\n"));
  try {
    return git(paths.join("\0"), "check-ignore", "--no-index", "-z", "--stdin").split("\0").filter(Boolean).sort();
  } catch (error) {
    if ((error as { status?: number }).status === 1) return [];
    throw error;
  }
}

/** A file in an ignored directory is ignored, whatever the rules say of itself. */
function ignoredByRules(lines: string[]): string[] {
  const rules = [{ directory: "/", rules: readRules(lines.join("\n")) }];
  const isBelowIgnored = (path: string): boolean =>
    path
      .split("/")
      .slice(0, -1)
      .some((_, index, above) => isIgnored(rules, `/${above.slice(0, index + 1).join("/")}`, "directory"));
  return paths.filter((path) => isBelowIgnored(path) || isIgnored(rules, `/${path}`, "other"));
}

const characters = ["a", "b", "d", "x", ".", "*", "?", "*.f", ".env", " ", "[ab]", "[!a]", "[a-x]", "[[:alpha:]]", "["];
const escapes = ["\\[x]", "\\*", "\\!", "\\", "{a,b}", "]"];
const name = fc
  .array(fc.constantFrom(...characters, ...escapes), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join(""));
// Two stars beside other characters mean one to git, but it forgets what a literal beginning was.
const part = fc.oneof({ weight: 3, arbitrary: name }, fc.constant("**"));
const pattern = fc
  .tuple(
    fc.constantFrom("", "", "!", "/", "\\!", "#", " "),
    fc.array(part, { minLength: 1, maxLength: 3 }),
    fc.constantFrom("", "/", "//", " ", "  ", "\\ ", "\\  ", ".f", ".pem.f"),
  )
  .map(([before, parts, after]) => `${before}${parts.join("/")}${after}`);

test("rules of ignore files match what git matches", () => {
  const property = fc.property(fc.array(pattern, { minLength: 1, maxLength: 4 }), (lines) => {
    expect(ignoredByRules(lines), JSON.stringify(lines)).toEqual(ignoredByGit(lines));
  });
  fc.assert(property, { numRuns: Number(process.env.FUZZ_RUNS ?? 200) });
});
