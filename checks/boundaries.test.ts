import { expect, test } from "vitest";
import { findForbiddenImports } from "./boundaries.ts";
import { plantRepository } from "./planted.ts";

test("packages import only what they may", () => {
  expect(findForbiddenImports()).toEqual([]);
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
  ["packages/worker/src/a.ts", 'import { x } from "@agentcli/engine";', "worker must not import engine"],
  ["packages/sdk/src/a.ts", 'import { x } from "../../../checks/tree.ts";', "sdk must not import files outside"],
  ["packages/novel/src/a.ts", 'import { x } from "y";', "package novel has no row"],
])("%s with %s is refused", (path, text, problem) => {
  using planted = plantRepository({ [path]: text });
  expect(findForbiddenImports(planted.root)).toEqual([expect.stringContaining(problem)]);
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
