import { expect, test } from "vitest";
import { plantRepository } from "./planted.ts";
import { findSecurityTestProblems } from "./security-tests.ts";

test("the table of security tests is true", () => {
  expect(findSecurityTestProblems()).toEqual([]);
});

const row = (item: number, cells: string) => `| ${item} | attack | ${cells} |`;
const good = "`a.test.ts` | it holds | both | Landlock";
const tableWith = (last: string) =>
  [...Array.from({ length: 14 }, (_, index) => row(index + 1, good)), last].join("\n");
const files = {
  "a.test.ts": 'test("it holds", () => run("landlock"));',
  "b.test.ts": 'test("it holds", () => {});',
  "scripts/user-tests.mjs": 'const tests = ["a.test.ts"];',
};

test.each([
  [row(15, good), []],
  ["", ["item 15 has no test"]],
  [row(15, "`c.test.ts` | it holds | root | "), ["there is no c.test.ts"]],
  [row(15, "`a.test.ts` | it fails | both | "), ['a.test.ts has no test with "it fails" in its name']],
  [row(15, "`b.test.ts` | it holds | both | "), ["b.test.ts does not run as an ordinary user"]],
  [row(15, "`a.test.ts` | it holds | root | "), ["a.test.ts runs as both users"]],
  [row(15, "`b.test.ts` | it holds | root | Landlock"), ["b.test.ts names no Landlock"]],
])("of a table that ends with %j", (last, problems) => {
  using planted = plantRepository({ ...files, "docs/security-tests.md": tableWith(last) });
  expect(findSecurityTestProblems(planted.root)).toEqual(problems.map((each) => expect.stringContaining(each)));
});

test("a file that runs as an ordinary user has to be in the table", () => {
  const script = 'const tests = ["a.test.ts", "b.test.ts"];';
  using planted = plantRepository({
    ...files,
    "scripts/user-tests.mjs": script,
    "docs/security-tests.md": tableWith(row(15, good)),
  });
  expect(findSecurityTestProblems(planted.root)).toEqual([expect.stringContaining("b.test.ts runs as an ordinary")]);
});
