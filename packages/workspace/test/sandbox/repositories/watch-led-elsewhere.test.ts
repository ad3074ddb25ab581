// What is reported of repositories that git finds in another way than by a directory .git: bare ones, links, linked working trees, submodules.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findNestedRepositories } from "../../../src/sandbox/repositories/nested.ts";
import { watchRepositories } from "../../../src/sandbox/repositories/watch.ts";
import { arm, eachTestHasARoot, init, openWatch, root } from "./watched-root.ts";

eachTestHasARoot();

describe("a watch", () => {
  test("sets a new repository aside with more modules than are looked at", async () => {
    const watch = await openWatch();
    init("many");
    for (let index = 0; index < 300; index += 1)
      mkdirSync(join(root, `many/.git/modules/m${index}`), { recursive: true });
    expect(await watch.findChanges()).toEqual([expect.stringContaining("git could run programs there (modules)")]);
  });

  test("sets a new repository aside whose submodule would run programs, but not one that a clone makes", async () => {
    const watch = await openWatch();
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
    const watch = await openWatch();
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
    const watch = await openWatch();
    init("armed");
    arm("armed");
    execFileSync("git", ["init", "-q", "--bare", root]);
    expect(await watch.findChanges()).toEqual([
      expect.stringContaining("in armed. Its .git was renamed to .git.untrusted"),
      expect.stringContaining("in the workspace. Check it before"),
    ]);
    expect(await watch.findChanges()).toEqual([]);
    expect(await (await openWatch()).findChanges()).toEqual([]);
  });

  test("takes a .git that is a link or a file for a risk", async () => {
    const watch = await openWatch();
    for (const name of ["file", "link"]) mkdirSync(join(root, name));
    writeFileSync(join(root, "file/.git"), "gitdir: ../store\n");
    symlinkSync("../store", join(root, "link/.git"));
    expect(await watch.findChanges()).toEqual([
      expect.stringContaining("in file. Its .git was renamed to .git.untrusted, because git could run"),
      expect.stringContaining("in link. Its .git was renamed to .git.untrusted, because git could run"),
    ]);
  });
});
