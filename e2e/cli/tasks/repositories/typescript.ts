// A TypeScript package: compiled by tsc, tested by Node's own test runner.
import { commonFiles, filesFor, type Project } from "./project.ts";

export const typescript: Project = {
  packages: ["typescript", "@typescript", "@types/node", "undici-types"],
  links: { "node_modules/.bin/tsc": "../typescript/bin/tsc" },
  files: {
    ...commonFiles,
    "README.md": "# routes\n\n    npm test\n",
    "package.json": `${JSON.stringify({ name: "routes", version: "2.0.0", type: "module", scripts: { build: "tsc -p .", test: "npm run --silent build && node --test build/test" } }, null, 2)}\n`,
    "tsconfig.json": `${JSON.stringify({ compilerOptions: { strict: true, noUncheckedIndexedAccess: true, target: "es2022", module: "nodenext", rootDir: ".", outDir: "build", types: ["node"], skipLibCheck: true }, include: ["src", "test"] }, null, 2)}\n`,
    ".gitignore": "node_modules\nbuild\n",
    "src/match.ts": `/** Whether a path fits a pattern such as /users/:id. */
export function matches(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split("/"), path.split("/")];
  return wanted.every((part, index) => part.startsWith(":") || part === given[index]);
}
`,
    "src/router.ts": `import { matches } from "./match.js";

export const find = (patterns: string[], path: string): string | undefined =>
  patterns.find((pattern) => matches(pattern, path));
`,
    "test/match.test.ts": `import assert from "node:assert/strict";
import test from "node:test";
import { matches } from "../src/match.js";

test("matches a variable part", () => assert.equal(matches("/users/:id", "/users/7"), true));
test("matches whole paths only", () => assert.equal(matches("/users/:id", "/users/7/posts"), false));
`,
    ...filesFor(60, (name) => [
      `src/handlers/${name}.ts`,
      `export const ${name} = (value: string): string => value;\n`,
    ]),
  },
  repair: {
    test: "npm test",
    subject: "Do not match a longer path",
    reported: /not ok \d+ - (matches) whole paths only/,
    change: (path) => [
      `*** Update File: ${path}`,
      "@@ export function matches(pattern: string, path: string): boolean {",
      '-  return wanted.every((part, index) => part.startsWith(":") || part === given[index]);',
      "+  if (wanted.length !== given.length) return false;",
      '+  return wanted.every((part, index) => part.startsWith(":") || part === given[index]);',
    ],
  },
  extension: {
    test: "set -o pipefail; npm test 2>&1 | cat",
    subject: "Return the variables of a match",
    branch: "variables",
    mentioned: "matches\\(pattern",
    change: [
      "*** Add File: src/variables.ts",
      '+import { matches } from "./match.js";',
      "+",
      "+export function variables(pattern: string, path: string): Record<string, string> | null {",
      "+  if (!matches(pattern, path)) return null;",
      '+  const given = path.split("/");',
      '+  const found = pattern.split("/").map((part, index) => [part, given[index]]);',
      '+  return Object.fromEntries(found.filter(([part]) => part.startsWith(":")).map(([part, value]) => [part.slice(1), value]));',
      "+}",
      "*** Update File: src/router.ts",
      "@@",
      ' import { matches } from "./match.js";',
      '+export { variables } from "./variables.js";',
      "*** Add File: test/variables.test.ts",
      '+import assert from "node:assert/strict";',
      '+import test from "node:test";',
      '+import { variables } from "../src/router.js";',
      "+",
      '+test("names the variable", () => assert.deepEqual(variables("/users/:id", "/users/7"), { id: "7" }));',
    ],
    mistake: /error TS\d+: .*possibly.*undefined/i,
    correction: [
      "*** Update File: src/variables.ts",
      "@@",
      '-  const found = pattern.split("/").map((part, index) => [part, given[index]]);',
      '-  return Object.fromEntries(found.filter(([part]) => part.startsWith(":")).map(([part, value]) => [part.slice(1), value]));',
      '+  const found = pattern.split("/").map((part, index): [string, string] => [part, given[index] ?? ""]);',
      '+  return Object.fromEntries(found.filter(([part]) => part.startsWith(":")).map(([part, value]) => [part.slice(1), value]));',
    ],
  },
};
