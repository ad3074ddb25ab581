import { expect, test } from "vitest";
import { findStaleFiles } from "./generated.ts";
import { plantRepository } from "./planted.ts";

test("running the generator would change nothing", () => {
  expect(findStaleFiles()).toEqual([]);
});

test("a stale file is named", () => {
  using planted = plantRepository({
    "scripts/generate.mjs": 'console.error("stale: a.json"); process.exit(process.argv[2] === "--check" ? 1 : 0);',
  });
  expect(findStaleFiles(planted.root)).toEqual([expect.stringContaining("stale: a.json")]);
});
