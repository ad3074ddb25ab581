import { expect, test } from "vitest";
import { findUntidiness } from "./hygiene.ts";
import { plantRepository } from "./planted.ts";

test("the repository is tidy", () => {
  expect(findUntidiness()).toEqual([]);
});

test.each([
  ["packages/a/src/string-utils.ts", "", "the name is too general"],
  ["packages/a/src/sessionManager.ts", "", "the name is too general"],
  ["packages/a/src/helpers.ts", "", "the name is too general"],
  ["packages/a/src/a.ts", "\n// TODO: later", "a.ts:2: write TODO(owner): condition"],
  ["packages/a/test/a.test.ts", "\ntest.only('x', () => {});", "a.test.ts:2: .only(…) leaves tests out"],
  ["packages/a/test/a.test.ts", "await vi.waitFor(isThere);", "wait with `eventually`"],
  ["checks/a.test.ts", "describe.skip.each([])('x');", ".skip.each(…)"],
])("%s holding %j is refused", (path, text, problem) => {
  using planted = plantRepository({ [path]: text });
  expect(findUntidiness(planted.root)).toEqual([expect.stringContaining(problem)]);
});

test("an owned TODO and a quoted word are fine", () => {
  using planted = plantRepository({
    "packages/a/src/a.ts": '// TODO(anna): remove when Node 18 is gone\nconst words = "TODO"; list.skip(1);',
    "packages/a/src/utilisation.ts": "",
  });
  expect(findUntidiness(planted.root)).toEqual([]);
});
