// What a search finds, what counts as a risk, and what is reported when a run ends.
import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { userInfo } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sandboxPolicy } from "../../../src/sandbox/policy.ts";
import { configuredPaths } from "../../../src/sandbox/repositories/configured.ts";
import { findNestedRepositories } from "../../../src/sandbox/repositories/nested.ts";
import { protectNested } from "../../../src/sandbox/repositories/protect.ts";
import { riskySettings } from "../../../src/sandbox/repositories/risks.ts";
import { type Listings, searchRepositories } from "../../../src/sandbox/repositories/search.ts";
import { openUnfinished, searchUnfinished } from "../../../src/sandbox/repositories/unfinished.ts";
import { watchRepositories } from "../../../src/sandbox/repositories/watch.ts";
import { temporaryDirectory } from "../../support/locations.ts";

let root = "";
beforeEach(() => {
  root = temporaryDirectory();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const init = (...names: string[]) => {
  for (const name of names) execFileSync("git", ["init", "-q", join(root, name)]);
};

describe("a search", () => {
  test("finds repositories at any depth, not through links, and not in a .git", async () => {
    init("a", "a/b/c", "node_modules/x");
    mkdirSync(join(root, "a/.git/modules/y/.git"), { recursive: true });
    symlinkSync(join(root, "a"), join(root, "link"));
    const { repositories, isComplete } = await searchRepositories([root], { maxEntries: 1_000 });
    expect(repositories.map(({ directory }) => directory)).toEqual(
      ["a", "a/b/c", "node_modules/x"].map((name) => join(root, name)),
    );
    expect(isComplete).toBe(true);
  });

  test("that reaches its limit says so, and has seen the top first, crowded directories last", async () => {
    for (let index = 0; index < 30; index += 1)
      mkdirSync(join(root, `node_modules/p${index}/lib`), { recursive: true });
    init("node_modules/p29/lib", "src/deep/er");
    expect(await searchRepositories([root], { maxEntries: 100 })).toMatchObject({
      repositories: [{ directory: join(root, "src/deep/er"), entry: ".git" }],
      isComplete: false,
    });
  });

  test("lists a directory again only if it changed", async () => {
    init("a");
    mkdirSync(join(root, "b/c"), { recursive: true });
    const listings: Listings = new Map();
    const search = async () =>
      (await searchRepositories([root], { maxEntries: 1_000, listings })).repositories.map(
        ({ directory }) => directory,
      );
    expect(await search()).toEqual([join(root, "a")]);
    // Everything here is new; what is known is believed only if it is as old as it was when it was listed.
    expect(listings.size).toBe(0);
    const known = (path: string, state: string) =>
      listings.set(path, {
        content: { hasGit: true, isBare: false, hasSettings: false, subdirectories: [], count: 0 },
        state,
      });
    const { dev, ino, ctimeMs, mode } = lstatSync(join(root, "b"));
    known(join(root, "b"), [dev, ino, ctimeMs, mode].join(" "));
    known(join(root, "b/c"), "of another time");
    expect(await search()).toEqual([join(root, "a"), join(root, "b")]);
    writeFileSync(join(root, "b/new"), "");
    expect(await search()).toEqual([join(root, "a")]);
  });

  test("finds a repository in a directory whose name is not text", async () => {
    const name = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0xfe])]);
    mkdirSync(name);
    mkdirSync(Buffer.concat([name, Buffer.from("/.git")]));
    expect((await searchRepositories([root], { maxEntries: 1_000 })).repositories).toEqual([
      { directory: name, entry: ".git" },
    ]);
  });
});

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

describe("a watch", () => {
  const open = async (newRepositories: "set-aside" | "kept" = "set-aside") =>
    watchRepositories({
      roots: [root],
      nested: await findNestedRepositories([root]),
      rootRepositories: "protected",
      newRepositories,
    });
  const arm = (name: string) => execFileSync("git", ["-C", join(root, name), "config", "core.fsmonitor", "./evil"]);

  test("reports each repository once, and sets only new ones aside that would run programs", async () => {
    init("before", "untouched");
    const watch = await open();
    init("plain", "armed");
    arm("armed");
    arm("before");
    expect(await watch.findChanges()).toEqual([
      "This run changed the git repository in before. Check its .git before you run git here: git could run programs there (core.fsmonitor).",
      "This run created the git repository in armed. Its .git was renamed to .git.untrusted, because git could run programs there (core.fsmonitor). Check it, and rename it back to use it.",
      "This run created the git repository in plain. Check it before you run git there or add it.",
    ]);
    expect(await watch.findChanges()).toEqual([]);
    expect([existsSync(join(root, "armed/.git")), existsSync(join(root, "before/.git"))]).toEqual([false, true]);
    init("armed");
    arm("armed");
    expect(await watch.findChanges()).toEqual([expect.stringContaining("renamed to .git.untrusted.2")]);
  });

  test("sets a repository aside whatever stands where its new name would be", async () => {
    const watch = await open();
    init("linked", "full");
    for (const name of ["linked", "full"]) arm(name);
    symlinkSync("nowhere", join(root, "linked/.git.untrusted"));
    for (let index = 1; index <= 100; index += 1)
      mkdirSync(join(root, `full/.git.untrusted${index === 1 ? "" : `.${index}`}`));
    expect(await watch.findChanges()).toEqual([
      expect.stringMatching(/ in full\. Its \.git was renamed to \.git\.untrusted\.[0-9a-f-]{36},/),
      expect.stringContaining(" in linked. Its .git was renamed to .git.untrusted.2,"),
    ]);
  });

  test("sets a directory aside that was there before and has become a repository", async () => {
    mkdirSync(join(root, "vendor/old"), { recursive: true });
    const created = lstatSync(join(root, "vendor/old")).birthtimeMs;
    // Beyond the tick of the kernel that counts as the start.
    await expect.poll(() => Date.now() - created).toBeGreaterThan(50);
    const nested = { ...(await findNestedRepositories([root])), isComplete: false };
    const watch = watchRepositories({
      ...{ roots: [root], nested, rootRepositories: "protected", newRepositories: "set-aside" },
    });
    init("source");
    for (const name of ["HEAD", "config", "objects", "refs"])
      renameSync(join(root, "source/.git", name), join(root, "vendor/old", name));
    renameSync(join(root, "vendor/old"), join(root, "vendor/.git"));
    arm("vendor");
    expect(await watch.findChanges()).toContainEqual(
      expect.stringContaining("This run created the git repository in vendor. Its .git was renamed"),
    );
  });

  test("leaves a repository of before where it is, whatever git replaced in it", async () => {
    init("vendor");
    arm("vendor");
    const created = lstatSync(join(root, "vendor/.git/objects")).birthtimeMs;
    await expect.poll(() => Date.now() - created).toBeGreaterThan(50);
    const nested = { repositories: [], protected: [], settings: [], unreadable: [], isComplete: false };
    const watch = watchRepositories({
      ...{ roots: [root], nested, rootRepositories: "protected", newRepositories: "set-aside" },
    });
    for (const name of ["HEAD", "config"]) {
      const path = join(root, "vendor/.git", name);
      writeFileSync(`${path}.lock`, readFileSync(path));
      renameSync(`${path}.lock`, path);
    }
    expect(await watch.findChanges()).toEqual([
      expect.stringContaining("This run changed the git repository in vendor."),
    ]);
    expect(existsSync(join(root, "vendor/.git"))).toBe(true);
  });

  test("sets a new repository aside with more modules than are looked at", async () => {
    const watch = await open();
    init("many");
    for (let index = 0; index < 300; index += 1)
      mkdirSync(join(root, `many/.git/modules/m${index}`), { recursive: true });
    expect(await watch.findChanges()).toEqual([expect.stringContaining("git could run programs there (modules)")]);
  });

  test("sets a new repository aside whose submodule would run programs, but not one that a clone makes", async () => {
    const watch = await open();
    for (const name of ["plain", "armed"]) {
      init(name);
      const module = join(root, name, ".git/modules/sub");
      execFileSync("git", ["init", "-q", "--bare", module]);
      execFileSync("git", ["-C", module, "config", "core.worktree", "../../../sub"]);
    }
    execFileSync("git", ["-C", join(root, "armed/.git/modules/sub"), "config", "core.fsmonitor", "./evil"]);
    expect(await watch.findChanges()).toEqual([
      expect.stringContaining(
        "in armed. Its .git was renamed to .git.untrusted, because git could run programs there (modules: core.fsmonitor)",
      ),
      "This run created the git repository in plain. Check it before you run git there or add it.",
    ]);
  });

  test("names what could not be searched before repositories without anything that runs", async () => {
    const watch = await open();
    init(...Array.from({ length: 25 }, (_, index) => `plain${String(index).padStart(2, "0")}`));
    init("perm/inner");
    arm("perm/inner");
    chmodSync(join(root, "perm"), 0o311);
    try {
      const [first] = await watch.findChanges();
      // Root reads it all the same.
      expect(first).toContain(process.geteuid?.() === 0 ? "perm/inner" : "perm cannot be read");
    } finally {
      chmodSync(join(root, "perm"), 0o755);
    }
  });

  test("reports where a linked working tree is led to another repository, and hooks of a submodule that is not checked out", async () => {
    init("work");
    const work = join(root, "work");
    execFileSync("git", [
      "-C",
      work,
      "-c",
      "user.name=Ada",
      "-c",
      "user.email=ada@example.com",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "x",
    ]);
    execFileSync("git", ["-C", work, "worktree", "add", "-q", join(root, "elsewhere")]);
    const watch = watchRepositories({
      ...{ roots: [work], nested: await findNestedRepositories([work]) },
      ...{ rootRepositories: "watched", newRepositories: "set-aside" },
    });
    writeFileSync(join(work, ".git/worktrees/elsewhere/commondir"), "../../../cd\n");
    expect(await watch.findChanges()).toEqual([
      expect.stringContaining("This run changed the git repository in the workspace."),
    ]);
    const module = join(work, ".git/modules/lib");
    execFileSync("git", ["init", "-q", "--bare", module]);
    execFileSync("git", ["-C", module, "config", "core.worktree", "../../.."]);
    expect(await watch.findChanges()).toEqual([
      expect.stringContaining("This run changed the git repository in the workspace."),
    ]);
  });

  test("treats a bare repository like any other: git runs its programs for a user who enters the directory", async () => {
    const bare = (name: string) => execFileSync("git", ["init", "-q", "--bare", join(root, name)]);
    for (const name of ["before.git", "untouched.git"]) bare(name);
    const watch = await open();
    for (const name of ["plain.git", "src/armed"]) bare(name);
    for (const name of ["src/armed", "before.git"]) arm(name);
    mkdirSync(join(root, "linked"));
    writeFileSync(join(root, "linked/HEAD"), "ref: refs/heads/main\n");
    writeFileSync(join(root, "linked/commondir"), "../before.git\n");
    expect(await watch.findChanges()).toEqual([
      "This run changed the git repository in before.git. Check its config and hooks before you run git there: git could run programs there (core.fsmonitor).",
      "This run created the git repository in linked. Its HEAD was renamed to HEAD.untrusted, because git could run programs there (commondir). Check it, and rename it back to use it.",
      "This run created the git repository in src/armed. Its HEAD was renamed to HEAD.untrusted, because git could run programs there (core.fsmonitor). Check it, and rename it back to use it.",
      "This run created the git repository in plain.git. Check it before you run git there or add it.",
    ]);
    expect(await watch.findChanges()).toEqual([]);
    const entered = spawnSync("git", ["status"], { cwd: join(root, "src/armed"), encoding: "utf8" });
    expect(entered.stderr).toContain("not a git repository");
  });

  test("finds a bare repository that the workspace itself has become, and does not report again what it set aside", async () => {
    const watch = await open();
    init("armed");
    arm("armed");
    execFileSync("git", ["init", "-q", "--bare", root]);
    expect(await watch.findChanges()).toEqual([
      expect.stringContaining("in armed. Its .git was renamed to .git.untrusted"),
      expect.stringContaining("in the workspace. Check it before"),
    ]);
    expect(await watch.findChanges()).toEqual([]);
    expect(await (await open()).findChanges()).toEqual([]);
  });

  test("leaves new repositories where they are if they are allowed", async () => {
    const watch = await open("kept");
    init("armed");
    arm("armed");
    expect(await watch.findChanges()).toEqual([
      expect.stringMatching(/^This run created .* in armed\. Check its \.git/),
    ]);
    expect(existsSync(join(root, "armed/.git"))).toBe(true);
  });

  test("takes a .git that is a link or a file for a risk", async () => {
    const watch = await open();
    for (const name of ["file", "link"]) mkdirSync(join(root, name));
    writeFileSync(join(root, "file/.git"), "gitdir: ../store\n");
    symlinkSync("../store", join(root, "link/.git"));
    expect(await watch.findChanges()).toEqual([
      expect.stringContaining("in file. Its .git was renamed to .git.untrusted, because git could run"),
      expect.stringContaining("in link. Its .git was renamed to .git.untrusted, because git could run"),
    ]);
  });

  test("sets new settings of agentcli aside, which a trusted project would use, and reports changed ones", async () => {
    const write = (path: string) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), 'sandbox_mode = "danger-full-access"');
    };
    for (const name of ["before", "untouched"]) write(`${name}/.agentcli/config.toml`);
    const watch = await open();
    write("before/.agentcli/rules/all.rules");
    write("api/.agentcli/config.toml");
    write("rules/.agentcli/rules/all.rules");
    write("skills/.agentcli/skills/a/SKILL.md");
    mkdirSync(join(root, "link"));
    symlinkSync("../elsewhere", join(root, "link/.agentcli"));
    const aside = (name: string, why: string) =>
      `This run created settings of agentcli in ${name}. Its .agentcli was renamed to .agentcli.untrusted, because in a trusted project agentcli would use them there (${why}). Check it, and rename it back to use it.`;
    expect(await watch.findChanges()).toEqual([
      "This run changed settings of agentcli in before. Check its .agentcli before you run agentcli there: in a trusted project agentcli would use them there (config.toml, rules).",
      aside("api", "config.toml"),
      aside("link", "it leads elsewhere"),
      aside("rules", "rules"),
    ]);
    expect(await watch.findChanges()).toEqual([]);
    const kept = (name: string) => existsSync(join(root, name, ".agentcli"));
    expect(["before", "untouched", "api", "rules", "skills"].map(kept)).toEqual([true, true, false, false, true]);
  });

  test("also looks at the settings of the workspace itself where they are not protected", async () => {
    const nested = await findNestedRepositories([root]);
    const watch = watchRepositories({
      roots: [root],
      nested,
      rootRepositories: "watched",
      newRepositories: "set-aside",
    });
    mkdirSync(join(root, ".agentcli"));
    writeFileSync(join(root, ".agentcli/config.toml"), "");
    expect(await watch.findChanges()).toEqual([
      expect.stringContaining("created settings of agentcli in the workspace. Its .agentcli was renamed"),
    ]);
  });

  test("does not write what a name contains to a terminal", async () => {
    const watch = await open();
    init("a\u001b]0;b\u0007\u202ec");
    expect(await watch.findChanges()).toEqual([expect.stringContaining("repository in a\ufffd]0;b\ufffd\ufffdc.")]);
  });

  test("reports what it cannot search or check, and still sets the others aside", async () => {
    const watch = await open();
    init("armed", "zz");
    arm("armed");
    chmodSync(join(root, "armed"), 0o500);
    rmSync(join(root, "zz/.git/config"));
    symlinkSync("config", join(root, "zz/.git/config"));
    const script = "for i in $(seq 21); do d=$(printf %0200d $i); mkdir $d && cd $d || exit 1; done";
    execFileSync("bash", ["-c", script], { cwd: root });
    expect(await watch.findChanges()).toEqual([
      expect.stringMatching(/^0{198}.* cannot be read, so it was not searched/),
      expect.stringContaining("in armed. Its .git was renamed to .git.untrusted"),
      expect.stringContaining("in zz. Its .git was renamed to .git.untrusted"),
    ]);
    execFileSync("rm", ["-rf", root]);
  });

  /** As of a process that exists no more. */
  async function killedRun(): Promise<{ notes: string; note: string }> {
    const notes = join(temporaryDirectory(), "notes");
    openUnfinished(notes, (await open()).describe).begin();
    const note = join(notes, String(readdirSync(notes)[0]));
    return { notes, note };
  }
  const bury = (note: string) =>
    writeFileSync(note, readFileSync(note, "utf8").replace(`"pid":${process.pid}`, '"pid":4194305'));

  test("leaves a run alone that is still going on", async () => {
    const { notes, note } = await killedRun();
    init("armed");
    arm("armed");
    expect(await searchUnfinished(notes)).toEqual([]);
    expect([existsSync(join(root, "armed/.git")), existsSync(note)]).toEqual([true, true]);
  });

  test("does not take for the work of a killed run what a user created or used after it", async () => {
    init("before");
    const { notes, note } = await killedRun();
    bury(note);
    utimesSync(note, 1, 1);
    init("later");
    arm("later");
    execFileSync("git", [
      "-C",
      join(root, "before"),
      "-c",
      "user.name=A",
      "-c",
      "user.email=a@b",
      "commit",
      "-qm",
      "x",
      "--allow-empty",
    ]);
    expect(await searchUnfinished(notes)).toEqual([]);
    expect([existsSync(join(root, "later/.git")), existsSync(notes)]).toEqual([true, false]);
  });

  test("finds what a killed run changed in a repository that existed before it", async () => {
    init("before");
    const { notes, note } = await killedRun();
    bury(note);
    arm("before");
    init("armed");
    arm("armed");
    expect(await searchUnfinished(notes)).toEqual([
      expect.stringContaining("A run that was killed changed the git repository in before. Check its .git"),
      expect.stringContaining("A run that was killed created the git repository in armed. Its .git was renamed"),
    ]);
    expect(existsSync(join(root, "before/.git"))).toBe(true);
  });
});
