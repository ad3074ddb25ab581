import { expect, test } from "vitest";
import { findFolderProblems } from "./folders.ts";
import { plantRepository } from "./planted.ts";

const plant = (files: Record<string, string>) =>
  plantRepository(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`packages/platform/src/${path}`, text])),
  );

test("groups of the platform import each other by their index only", () => {
  expect(findFolderProblems()).toEqual([]);
});

test.each([
  [
    "agents/a.ts",
    'import { b } from "../runs/store.ts";',
    "agents must not import runs/store.ts; import runs/index.ts",
  ],
  ["agents/a.ts", 'import type { b } from "../runs/leases/index.ts";', "agents must not import runs/leases/index.ts"],
  ["serve.ts", 'import { b } from "./runs/leases/lease.ts";', "the program must not import runs/leases/lease.ts"],
  ["commands/a.ts", 'import { b } from "../runs/leases/lease.ts";', "the program must not import runs/leases/lease.ts"],
  ["agents/a.ts", 'import { b } from "../serve.ts";', "agents must not import serve.ts of the program"],
  ["foundation/db/a.ts", 'import type { b } from "../../serve.ts";', "foundation must not import serve.ts"],
  ["foundation/db/a.ts", 'import type { b } from "../../runs/index.ts";', "foundation must not import runs"],
])("%s with %s is refused", (path, text, problem) => {
  using planted = plant({ [path]: text });
  expect(findFolderProblems(planted.root)).toEqual([expect.stringContaining(problem)]);
});

test("a room with an index is imported by it, also within its group", () => {
  using planted = plant({
    "runs/usage/index.ts": "",
    "runs/usage/spend.ts": "",
    "runs/execution/a.ts": 'import { b } from "../usage/spend.ts"; import { c } from "../usage/index.ts";',
  });
  expect(findFolderProblems(planted.root)).toEqual([
    expect.stringContaining("runs/execution must not import runs/usage/spend.ts; import runs/usage/index.ts"),
  ]);
});

test("groups that import each other are found, also by their types and over a third", () => {
  using planted = plant({
    "agents/a.ts": 'import type { b } from "../runs/index.ts";',
    "runs/a.ts": 'import { b } from "../pages/index.ts";',
    "pages/a.ts": 'import { b } from "../agents/index.ts";',
  });
  expect(findFolderProblems(planted.root)).toEqual([
    "These folders import each other: agents → runs → pages → agents.",
  ]);
});

test("rooms of a group that import each other are found", () => {
  using planted = plant({
    "runs/usage/a.ts": 'import type { b } from "../streams/b.ts";',
    "runs/streams/b.ts": 'import { a } from "../usage/a.ts";',
  });
  expect(findFolderProblems(planted.root)).toEqual([
    "These folders import each other: runs/streams → runs/usage → runs/streams.",
  ]);
});

test("a group may import another, its own rooms and files; the program may import single rooms", () => {
  using planted = plant({
    "agents/a.ts": 'import "../foundation/index.ts"; import "../runs/index.ts"; import "./b/c.ts";',
    "commands/a.ts": 'import "../args.ts"; import "../runs/index.ts"; import "../identity/principals/index.ts";',
    "serve.ts": 'import "./foundation/context.ts";',
  });
  expect(findFolderProblems(planted.root)).toEqual([]);
});
