import { expect, test } from "vitest";
import { plantRepository } from "./planted.ts";
import { findBareProgramNames } from "./programs.ts";

test("no shipped code starts a program of the host by its bare name", () => {
  expect(findBareProgramNames()).toEqual([]);
});

const imports = 'import { spawn, execFile } from "node:child_process";\n';

test.each([
  ["spawn", 'spawn("git", ["status"]);', "a.ts:2: git is looked up on PATH"],
  [
    "a choice of two",
    'spawn(process.platform === "darwin" ? "/usr/bin/open" : "xdg-open", []);',
    "xdg-open is looked up",
  ],
  ["execFile", "execFile('rg',\n  [], {});", "a.ts:2: rg is looked up on PATH"],
  ["a shell", 'import { execSync } from "node:child_process";', "a.ts:2: execSync runs a shell"],
])("%s with a name is refused", (_case, line, problem) => {
  using planted = plantRepository({ "packages/a/src/a.ts": `${imports}${line}` });
  expect(findBareProgramNames(planted.root)).toEqual([expect.stringContaining(problem)]);
});

test("a path, a program that was found, and what tests start are fine", () => {
  using planted = plantRepository({
    "packages/a/src/a.ts": `${imports}spawn("/bin/sh", ["-c", "git"]);\nexecFile(programs.find("git"), ["log"]);`,
    "packages/a/test/a.test.ts": `${imports}spawn("git", []);`,
    "packages/a/src/b.ts": 'subagents.spawn("reviewer");',
  });
  expect(findBareProgramNames(planted.root)).toEqual([]);
});
