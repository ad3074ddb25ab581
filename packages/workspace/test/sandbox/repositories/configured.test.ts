// What counts as a risk in settings of git, and which paths they name.
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { sandboxPolicy } from "../../../src/sandbox/policy.ts";
import { configuredPaths } from "../../../src/sandbox/repositories/configured.ts";
import { protectNested } from "../../../src/sandbox/repositories/protect.ts";
import { riskySettings } from "../../../src/sandbox/repositories/risks.ts";
import { eachTestHasARoot, init, root } from "./watched-root.ts";

eachTestHasARoot();

test.each([
  ["[core]\n\trepositoryformatversion = 0\n\tbare = false\n[user]\n\tname = Ada\n", []],
  ['[remote "origin"]\n\turl = https://example.com/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n', []],
  ["# a comment\n; another\n\n[core] bare = false\n", []],
  ["[core]\n\tfsmonitor = ./evil\n", ["core.fsmonitor"]],
  ["[CORE]FsMonitor=./evil\n", ["core.fsmonitor"]],
  ["[core] bare = false\r\tfsmonitor = ./evil", ["core.fsmonitor"]],
  ["[pager] # \r[commit]\n\tstatus = ./evil\n", ["pager.?"]],
  ['[filter "x"]\n\tclean = ./evil\n', ["filter.clean"]],
  ["[filter.x]\n\tclean = ./evil\n", ["filter.x.clean"]],
  ["[include]\n\tpath = ../evil\n", ["include.path"]],
  ['[remote "o"]\n\tuploadpack = ./evil\n', ["remote.uploadpack"]],
  ["[user]\n\tname = a\\\n[core]\n\tbare = false\n", ["user.name"]],
  ["bare = false\n", [".bare"]],
  ["\u00ef\u00bb\u00bf[core]\n\tfsmonitor = ./evil\n", [".?", ".fsmonitor"]],
  ["[constructor]\n\tbare = false\n", ["constructor.bare"]],
])("the risks of a configuration: %j", (config, risks) => {
  expect(riskySettings(config)).toEqual(risks);
});

const namedIn = (directory: string, home: string) => configuredPaths(directory, { HOME: home }).map(({ path }) => path);

test("paths that settings of the user name are those of the working tree", () => {
  init("work");
  const home = join(root, "home");
  mkdirSync(home);
  writeFileSync(join(home, ".gitconfig"), "[core]\n\thooksPath = .githooks\n\teditor = vim\n");
  expect(namedIn(join(root, "work"), home)).toEqual([join(root, "work/.githooks")]);
});

test("programs that do not exist count in settings of the repository, but not in aliases or settings of the user", () => {
  init("work");
  const home = join(root, "home");
  mkdirSync(home);
  const work = join(root, "work");
  mkdirSync(join(work, "there"));
  writeFileSync(join(work, "there/tool"), "");
  const driver = '[merge "npm"]\n\tdriver = node_modules/.bin/npm-merge-driver merge %A\n';
  writeFileSync(join(home, ".gitconfig"), `${driver}[alias]\n\tapp = "!make && build/app"\n\town = !there/tool\n`);
  expect(namedIn(work, home)).toEqual([join(work, "there/tool")]);
  appendFileSync(join(work, ".git/config"), '[alias]\n\tx = !out/x\n[filter "x"]\n\tclean = scripts/clean\n');
  expect(namedIn(work, home)).toEqual([join(work, "scripts/clean"), join(work, "there/tool")]);
});

test("directories that aliases name stay writable", async () => {
  init("work");
  const work = join(root, "work");
  for (const name of ["frontend", "docs", "src", "apps/web"]) mkdirSync(join(work, name), { recursive: true });
  const aliases = {
    ...{ fe: "!cd frontend && npm start", d: "commit -m docs", r: "branch -m docs", g: "grep -C src" },
    ...{ web: "!cd apps/web && npm start", m: "!make -C src", p: "!python3 -m src.x" },
  };
  const text = Object.entries(aliases).map(([name, value]) => `\t${name} = "${value}"\n`);
  const settings = `[alias]\n${text.join("")}`;
  writeFileSync(join(root, ".gitconfig"), settings);
  appendFileSync(join(work, ".git/config"), settings);
  const backEnd = { kind: "bubblewrap", program: "/usr/bin/bwrap", processes: "own" } as const;
  const unprotected = sandboxPolicy({ mode: "workspace-write", root: work });
  const { policy } = await protectNested(unprotected, backEnd, { HOME: root });
  expect(policy.protectedPaths).toEqual(unprotected.protectedPaths);
  expect(namedIn(work, root)).toEqual([]);
});

test.each([
  "git commit -m docs",
  "git branch -m docs",
  "git grep -C docs x",
  "grep -C docs x",
  "cat -m docs; python3 a",
])("a word after an option that has another meaning is not taken for a directory: %s", (command) => {
  init("work");
  const work = join(root, "work");
  mkdirSync(join(work, "docs"));
  execFileSync("git", ["-C", work, "config", "filter.f.clean", command]);
  expect(namedIn(work, join(root, "home"))).toEqual([]);
});

test.each([
  ["a quoted path with a space", "'my tools/c.sh'", ["my tools/c.sh"]],
  ["a directory that the command changes to", "cd tools && ./c.sh", ["tools"]],
  ["a module without its extension", "node tools/clean", ["tools/clean.js"]],
  ["a module by its name", "python3 -m tools.cl", ["tools"]],
  ["a module after other options", ".venv/bin/python -u -m tools.cl", ["tools"]],
  ["a directory as an option", "make -s -C tools c", ["tools"]],
  ["a directory as an option of git", "git -c a.b=c --no-pager -C tools x", ["tools"]],
])("files that a filter names are found: %s", (_, command, expected) => {
  init("work");
  const work = join(root, "work");
  for (const name of ["my tools", "tools"]) mkdirSync(join(work, name));
  for (const name of ["my tools/c.sh", "tools/c.sh", "tools/clean.js", "tools/cl.py"])
    writeFileSync(join(work, name), "");
  execFileSync("git", ["-C", work, "config", "filter.f.clean", command]);
  for (const path of expected) expect(namedIn(work, join(root, "home"))).toContain(join(work, path));
});

test("files that an address of the kind ext and the home of a user by name lead to are found", () => {
  init("work");
  const work = join(root, "work");
  mkdirSync(join(work, "tools"));
  writeFileSync(join(work, "tools/p.sh"), "");
  const { username, homedir: home } = userInfo();
  const included = `~${username}/${relative(home, join(work, "tools/settings"))}`;
  appendFileSync(
    join(work, ".git/config"),
    `[remote "o"]\n\turl = ext::tools/p.sh %S\n[include]\n\tpath = ${included}\n`,
  );
  expect(namedIn(work, join(root, "home")).sort()).toEqual([join(work, "tools/p.sh"), join(work, "tools/settings")]);
});

test("a program among the packages closes nothing; that it was created is reported", async () => {
  init("work");
  const work = join(root, "work");
  appendFileSync(join(work, ".git/config"), '[merge "npm"]\n\tdriver = node_modules/.bin/npm-merge-driver merge %A\n');
  const backEnd = { kind: "bubblewrap", program: "/usr/bin/bwrap", processes: "own" } as const;
  const { policy, watch } = await protectNested(sandboxPolicy({ mode: "workspace-write", root: work }), backEnd, {
    HOME: root,
  });
  expect(policy.absentPaths).toEqual([]);
  mkdirSync(join(work, "node_modules/.bin"), { recursive: true });
  writeFileSync(join(work, "node_modules/.bin/npm-merge-driver"), "");
  expect(await watch.findChanges()).toEqual([
    expect.stringContaining('This run changed "node_modules/.bin/npm-merge-driver", which git reads or runs'),
  ]);
});

test("a file where a directory was named neither stops the start nor the report at the end", async () => {
  init("work");
  const work = join(root, "work");
  writeFileSync(join(work, "usr"), "");
  mkdirSync(join(work, "a"));
  mkdirSync(join(work, "real"));
  symlinkSync("../real", join(work, "a/h"));
  appendFileSync(join(work, ".git/config"), "[core]\n\thooksPath = a/h\n");
  const backEnd = { kind: "bubblewrap", program: "/usr/bin/bwrap", processes: "own" } as const;
  const { watch } = await protectNested(sandboxPolicy({ mode: "workspace-write", root: work }), backEnd, {
    HOME: root,
    EDITOR: "/usr/bin/vim",
  });
  rmSync(join(work, "a"), { recursive: true });
  writeFileSync(join(work, "a"), "");
  expect(await watch.findChanges()).toEqual([expect.stringContaining('This run changed "a/h"')]);
});
