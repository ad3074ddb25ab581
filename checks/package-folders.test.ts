import { expect, test } from "vitest";
import { exemptPackages, findFolderViolations } from "./package-folders.ts";
import { plantRepository } from "./planted.ts";
import { repositoryRoot } from "./tree.ts";

test("folders of every package are entered through their index and import each other in one direction", () => {
  expect(findFolderViolations(repositoryRoot, exemptPackages)).toEqual([]);
});

const index = { "packages/a/src/tools/index.ts": "", "packages/a/src/tools/inner/index.ts": "" };

test.each([
  ["packages/a/src/main.ts", "./tools/tool.ts", "packages/a/src/tools/index.ts"],
  ["packages/a/src/other/b.ts", "../tools/tool.ts", "packages/a/src/tools/index.ts"],
  ["packages/a/src/main.ts", "./tools/inner/index.ts", "packages/a/src/tools/index.ts"],
  ["packages/a/src/tools/b.ts", "./inner/c.ts", "packages/a/src/tools/inner/index.ts"],
])("%s must not import %s", (path, specifier, entry) => {
  using planted = plantRepository({
    ...index,
    "packages/a/src/tools/tool.ts": "",
    "packages/a/src/tools/inner/c.ts": "",
    [path]: `import type { A } from "${specifier}";`,
  });
  expect(findFolderViolations(planted.root)).toEqual([expect.stringMatching(`^${path}:1: .*through ${entry}`)]);
  expect(findFolderViolations(planted.root, ["a"])).toEqual([]);
});

test("a cycle between folders is found at every level, by types too and over a third", () => {
  using planted = plantRepository({
    "packages/a/src/one/a.ts": 'import type { B } from "../two/b.ts";',
    "packages/a/src/two/b.ts": 'import { c } from "../three/c.ts";',
    "packages/a/src/three/c.ts": 'import { a } from "../one/d.ts";',
    "packages/a/src/one/d.ts": "",
    "packages/b/src/x/one/a.ts": 'import "../two/b.ts";',
    "packages/b/src/x/two/c.ts": 'import "../one/d.ts";',
    "packages/b/src/x/two/b.ts": "",
    "packages/b/src/x/one/d.ts": "",
  });
  expect(findFolderViolations(planted.root)).toEqual([
    expect.stringContaining("packages/a/src/one → packages/a/src/two → packages/a/src/three → packages/a/src/one"),
    expect.stringContaining("packages/b/src/x/one → packages/b/src/x/two → packages/b/src/x/one"),
  ]);
});

test("an index, an exported file, files of the same folder, folders without an index and tests are free", () => {
  using planted = plantRepository({
    ...index,
    "packages/a/package.json": '{"exports": {".": "./src/index.ts", "./fast": "./src/tools/fast.ts"}}',
    "packages/a/src/index.ts": 'import "./tools/index.ts"; import "./tools/fast.ts"; import "./open/a.ts";',
    "packages/a/src/tools/fast.ts": 'import "./tool.ts"; import "../main.ts"; import "./inner/index.ts";',
    "packages/a/src/tools/tool.ts": "",
    "packages/a/src/main.ts": "",
    "packages/a/src/open/a.ts": 'import "../tools/index.ts";',
    "packages/a/test/tool.test.ts": 'import "../src/tools/tool.ts";',
  });
  expect(findFolderViolations(planted.root)).toEqual([]);
});
