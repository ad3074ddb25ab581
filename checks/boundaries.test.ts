import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allowedImports, findForbiddenImports, readDocumentedImports } from "./boundaries.ts";
import { plantRepository } from "./planted.ts";
import { repositoryRoot } from "./tree.ts";

test("packages import only what they may", () => {
  expect(findForbiddenImports()).toEqual([]);
});

test("every package has a row, and every row a package", () => {
  expect(Object.keys(allowedImports).sort()).toEqual(readdirSync(join(repositoryRoot, "packages")).sort());
});

test("the table and the picture of the architecture show every package and what it imports", () => {
  const page = readFileSync(join(repositoryRoot, "docs/ARCHITECTURE.md"), "utf8");
  const sorted = Object.fromEntries(
    Object.entries(allowedImports).map(([name, imports]) => [name, [...imports].sort()]),
  );
  expect(readDocumentedImports(page)).toEqual(sorted);
  const picture: string[] = /```\n([\s\S]*?)```/.exec(page)?.[1]?.match(/[a-z][\w-]*/g) ?? [];
  expect(Object.keys(allowedImports).filter((name) => !picture.includes(name))).toEqual([]);
});

test("a row of the architecture page is read as a package and its imports", () => {
  expect(readDocumentedImports("| `a` | schemas | |\n| `b-c` | the rest | a, d |\n")).toEqual({
    a: [],
    "b-c": ["a", "d"],
  });
});

test.each([
  ["packages/engine/src/a.ts", 'import { readFile } from "node:fs";', "engine must not import node:fs"],
  ["packages/engine/src/a.ts", 'import type { Stats } from "fs/promises";', "engine must not import fs/promises"],
  ["packages/engine/src/a.ts", 'import type { A } from "@agentcli/workspace";', "engine must not import workspace"],
  ["packages/models/src/a.ts", 'export { b } from "../../workspace/src/b.ts";', "models must not import workspace"],
  ["packages/workspace/src/a.ts", 'await import("@agentcli/engine");', "workspace must not import engine"],
  ["packages/protocol/src/a.ts", 'import "@agentcli/engine";', "protocol must not import engine"],
  ["packages/cli/src/a.ts", 'import { x } from "@agentcli/testkit";', "cli must not import testkit"],
  ["packages/cli/src/a.ts", 'import { x } from "@agentcli/protocol";', "import types only"],
  ["packages/surfaces/src/a.ts", 'import { x } from "@agentcli/models";', "surfaces must not import models"],
  ["packages/sdk/src/a.ts", 'import { x } from "../../../checks/tree.ts";', "sdk must not import files outside"],
  ["e2e/cli/a.test.ts", 'import { x } from "../../packages/cli/src/run.ts";', "e2e must not import sources of cli"],
  ["e2e/cli/a.test.ts", 'await import("../../packages/mcp/test/server.ts");', "e2e must not import sources of mcp"],
  ["e2e/platform/a.ts", 'import type { X } from "@agentcli/platform";', "e2e must not import sources of platform"],
  ["packages/novel/src/a.ts", 'import { x } from "y";', "package novel has no row"],
])("%s with %s is refused", (path, text, problem) => {
  using planted = plantRepository({ [path]: text });
  expect(findForbiddenImports(planted.root)).toEqual([expect.stringContaining(problem)]);
});

test("e2e may import test support, schemas, built SDKs and its own files", () => {
  using planted = plantRepository({
    "e2e/cli/a.test.ts": 'import "@agentcli/testkit/cli"; import "@agentcli/protocol/api"; import "../support/b.ts";',
    "e2e/sdk/a.mjs": 'import "@agentcli/sdk"; import x from "../../packages/protocol/generated/a.json";',
  });
  expect(findForbiddenImports(planted.root)).toEqual([]);
});

test("tests may import anything, and shipped code what its row names", () => {
  using planted = plantRepository({
    "packages/engine/test/a.test.ts": 'import "node:fs"; import "@agentcli/testkit";',
    "packages/cli/src/a.ts": 'import "@agentcli/engine"; import "./b.ts"; import x from "../package.json";',
    "packages/cli/src/b.ts": 'import type { T } from "@agentcli/protocol"; import "@agentcli/protocol/exit-codes";',
    "packages/cli/src/c.ts": 'const { T } = await import("@agentcli/protocol");',
  });
  expect(findForbiddenImports(planted.root)).toEqual([]);
});
