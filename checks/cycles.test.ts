import { expect, test } from "vitest";
import { findImportCycles } from "./cycles.ts";
import { plantRepository } from "./planted.ts";

test("no files import each other", () => {
  expect(findImportCycles()).toEqual([]);
});

test("a cycle is found, across packages too", () => {
  using planted = plantRepository({
    "packages/a/package.json": '{"exports": {".": "./src/index.ts"}}',
    "packages/a/src/index.ts": 'export * from "./one.ts";',
    "packages/a/src/one.ts": 'import { x } from "@agentcli/b";',
    "packages/b/package.json": '{"exports": {".": "./src/index.ts"}}',
    "packages/b/src/index.ts": 'const lazy = () => import("@agentcli/a");',
  });
  expect(findImportCycles(planted.root)).toEqual([
    expect.stringContaining(
      "packages/a/src/index.ts → packages/a/src/one.ts → packages/b/src/index.ts → packages/a/src/index.ts",
    ),
  ]);
});

test("a cycle through types counts", () => {
  using planted = plantRepository({
    "packages/a/src/one.ts": 'import type { Two } from "./two.ts";',
    "packages/a/src/two.ts": 'import { one } from "./one.ts";',
  });
  expect(findImportCycles(planted.root)).toEqual([
    expect.stringContaining("packages/a/src/one.ts → packages/a/src/two.ts → packages/a/src/one.ts"),
  ]);
});
