import { expect, test } from "vitest";
import { plantRepository } from "./planted.ts";
import { findReplacedWords, type WordUse } from "./words.ts";

const toLine = ({ path, line, word }: WordUse) => `${path}:${line}: ${word}`;

test("replaced words do not come back", () => {
  expect(findReplacedWords().map(toLine)).toEqual([]);
});

test.each([
  ["packages/a/src/a.ts", "const listWish = 1;", ["packages/a/src/a.ts:1: wish"]],
  ["packages/a/src/a.ts", "\n// Nobody reads this.", ["packages/a/src/a.ts:2: nobody"]],
  ["packages/a/src/a.ts", 'const a = "mend it";', ["packages/a/src/a.ts:1: mend"]],
  ["packages/a/src/a.ts", "export interface Place {}", ["packages/a/src/a.ts:1: place"]],
  ["packages/a/src/a.ts", "const mostBytes = 1;", ["packages/a/src/a.ts:1: mostBytes"]],
  ["packages/a/src/a.ts", "await carryOut(run);", ["packages/a/src/a.ts:1: carryOut"]],
  ["packages/a/src/a.ts", "// The client is told.", ["packages/a/src/a.ts:1: is told"]],
  ["packages/a/src/a.ts", "throw new Error(`$" + "{id} is no id`);", ["packages/a/src/a.ts:1: is no id"]],
  ["packages/a/src/desk.ts", "", ["packages/a/src/desk.ts:0: desk"]],
  ["packages/a/test/story.test.ts", "", ["packages/a/test/story.test.ts:0: story"]],
  ["python/a/src/chosen.py", 'def tell_others():\n    """Ask whoever holds it."""', ["tell", "whoever"]],
  ["docs/a.md", "The house rules.", ["docs/a.md:1: house"]],
  ["e2e/a.test.ts", "openDesk();", ["e2e/a.test.ts:1: desk"]],
  ["scripts/a.mjs", "say(text);", ["scripts/a.mjs:1: say"]],
  ["bench/a.mjs", "const trouble = 1;", ["bench/a.mjs:1: trouble"]],
  ["GLOSSARY.md", "What is said.", ["GLOSSARY.md:1: is said"]],
])("%s holding %j is refused", (path, text, expected) => {
  using planted = plantRepository({ [path]: text });
  expect(findReplacedWords(planted.root).map(toLine)).toEqual(expected.map((line) => expect.stringContaining(line)));
});

test("plain uses, generated files and excepted wire names are fine", () => {
  using planted = plantRepository({
    "packages/a/src/a.ts":
      '// Sorts in place, says so once, and there is no copy; it is no longer needed.\nconst mostRecent = replace(longestRunningTurnSec, "desktop");',
    "packages/a/generated/a.ts": "const wish = 1;",
    "bench/main.mjs": "const bench = 1;",
    "docs/a.md": "Run `npm run bench`. This takes the place of the old one.",
  });
  expect(findReplacedWords(planted.root).map(toLine)).toEqual([]);
});
