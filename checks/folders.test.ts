import { expect, test } from "vitest";
import { findFolderTrouble } from "./folders.ts";
import { plantRepository } from "./planted.ts";

test("folders of the platform know each other by their index only", () => {
  expect(findFolderTrouble()).toEqual([]);
});

test.each([
  ["agents/a.ts", 'import { b } from "../runs/store.ts";', "agents must not import runs/store.ts; runs/index.ts"],
  ["agents/a.ts", 'import type { b } from "../runs/lease/a.ts";', "agents must not import runs/lease/a.ts"],
  ["serve.ts", 'import { b } from "./runs/store.ts";', "the program must not import runs/store.ts"],
  ["commands/a.ts", 'import { b } from "../runs/store.ts";', "the program must not import runs/store.ts"],
  ["agents/a.ts", 'import { b } from "../serve.ts";', "agents must not import serve.ts of the program"],
  ["db/a.ts", 'import type { b } from "../platform.ts";', "db must not import platform.ts of the program"],
  ["vault/a.ts", 'import { b } from "../http/index.ts";', "vault must not import http; it may import db"],
  [
    "telemetry/a.ts",
    'import { b } from "../db/index.ts";',
    "telemetry must not import db; it may import no other folder",
  ],
])("%s with %s is refused", (path, text, problem) => {
  using planted = plantRepository({ [`packages/platform/src/${path}`]: text });
  expect(findFolderTrouble(planted.root)).toEqual([expect.stringContaining(problem)]);
});

test("subjects that import each other are found, also by their types and over a third", () => {
  using planted = plantRepository({
    "packages/platform/src/agents/a.ts": 'import type { b } from "../runs/index.ts";',
    "packages/platform/src/runs/a.ts": 'import { b } from "../streams/index.ts";',
    "packages/platform/src/streams/a.ts": 'import { b } from "../agents/index.ts";',
  });
  expect(findFolderTrouble(planted.root)).toEqual([
    "These folders import each other: agents → runs → streams → agents.",
  ]);
});

test("a subject may see what it stands on, another subject and the platform", () => {
  using planted = plantRepository({
    "packages/platform/src/agents/a.ts":
      'import "../http/index.ts"; import "../runs/index.ts"; import type { P } from "../platform.ts"; import "./b/c.ts";',
    "packages/platform/src/commands/a.ts": 'import "../args.ts"; import "../runs/index.ts";',
  });
  expect(findFolderTrouble(planted.root)).toEqual([]);
});
