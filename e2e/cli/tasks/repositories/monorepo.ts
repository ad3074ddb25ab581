// A monorepo of npm workspaces that depend on each other, with a Python tool beside them.
import { commonFiles, filesFor, type Project } from "./project.ts";

const manifest = (name: string, more: object = {}): string =>
  `${JSON.stringify({ name: `@shop/${name}`, version: "1.0.0", type: "module", exports: "./src/index.js", scripts: { test: "node --test" }, ...more }, null, 2)}\n`;

export const monorepo: Project = {
  links: {
    "node_modules/@shop/core": "../../packages/core",
    "node_modules/@shop/web": "../../packages/web",
  },
  files: {
    ...commonFiles,
    "README.md": "# shop\n\n    npm test\n",
    "package.json": `${JSON.stringify({ name: "shop", private: true, workspaces: ["packages/*"], scripts: { test: "npm test --workspaces --if-present && python3 tools/check_versions.py" } }, null, 2)}\n`,
    ".gitignore": "node_modules\n__pycache__/\n",
    "tools/check_versions.py": `import json
import pathlib

versions = {json.loads(path.read_text())["version"] for path in pathlib.Path("packages").glob("*/package.json")}
assert len(versions) == 1, f"packages have several versions: {sorted(versions)}"
print("one version")
`,
    "packages/core/package.json": manifest("core"),
    "packages/core/src/index.js": `export function slug(title) {
  return title.toLowerCase().replace(/[^a-z0-9]+/, "-");
}
`,
    "packages/core/test/slug.test.js": `import assert from "node:assert/strict";
import test from "node:test";
import { slug } from "../src/index.js";

test("slug of several words", () => assert.equal(slug("Two Old Cats"), "two-old-cats"));
`,
    "packages/web/package.json": manifest("web", { dependencies: { "@shop/core": "1.0.0" } }),
    "packages/web/src/index.js": `import { slug } from "@shop/core";

export const address = (title) => "/articles/" + slug(title);
`,
    "packages/web/test/address.test.js": `import assert from "node:assert/strict";
import test from "node:test";
import { address } from "../src/index.js";

test("address of an article", () => assert.equal(address("Cats"), "/articles/cats"));
`,
    ...filesFor(50, (name) => [`packages/web/src/pages/${name}.js`, `export const ${name} = "${name}";\n`]),
  },
  repair: {
    test: "npm test",
    subject: "core: replace every gap of a title",
    reported: /not ok \d+ - (slug) of several words/,
    change: (path) => [
      `*** Update File: ${path}`,
      "@@ export function slug(title) {",
      '-  return title.toLowerCase().replace(/[^a-z0-9]+/, "-");',
      '+  return title.toLowerCase().replace(/[^a-z0-9]+/g, "-");',
    ],
  },
  extension: {
    test: "set -o pipefail; npm test 2>&1 | tail -80",
    subject: "Release 1.1.0 with addresses by language",
    branch: "release-1.1.0",
    mentioned: "export const address",
    change: [
      "*** Update File: packages/web/src/index.js",
      "@@",
      '-export const address = (title) => "/articles/" + slug(title);',
      '+export const address = (title, language = "en") =>',
      '+  (language === "en" ? "" : "/" + language) + "/articles/" + slug(title);',
      "*** Update File: packages/web/test/address.test.js",
      "@@",
      ' test("address of an article", () => assert.equal(address("Cats"), "/articles/cats"));',
      '+test("address in French", () => assert.equal(address("Chats", "fr"), "/fr/articles/chats"));',
      "*** Update File: packages/web/package.json",
      "@@",
      '-  "version": "1.0.0",',
      '+  "version": "1.1.0",',
    ],
    mistake: /packages have several versions: \['1\.0\.0', '1\.1\.0'\]/,
    correction: [
      "*** Update File: packages/core/package.json",
      "@@",
      '-  "version": "1.0.0",',
      '+  "version": "1.1.0",',
    ],
  },
};
