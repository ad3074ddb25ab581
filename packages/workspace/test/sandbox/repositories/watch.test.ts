// What is reported when a run ends, and what is set aside: repositories that the run created or changed.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findNestedRepositories } from "../../../src/sandbox/repositories/nested.ts";
import { watchRepositories } from "../../../src/sandbox/repositories/watch.ts";
import { arm, eachTestHasARoot, init, openWatch, root } from "./watched-root.ts";

eachTestHasARoot();

describe("a watch", () => {
  test("reports each repository once, and sets only new ones aside that would run programs", async () => {
    init("before", "untouched");
    const watch = await openWatch();
    init("plain", "armed");
    arm("armed");
    arm("before");
    expect(await watch.findChanges()).toEqual([
      "This run changed the git repository in before. Check its .git before you run git here: git could run programs there (core.fsmonitor).",
      "This run created the git repository in armed. Its .git was renamed to .git.untrusted, because git could run programs there (core.fsmonitor). Check it, and rename it and its HEAD.untrusted back to use it.",
      "This run created the git repository in plain. Check it before you run git there or add it.",
    ]);
    expect(await watch.findChanges()).toEqual([]);
    expect([existsSync(join(root, "armed/.git")), existsSync(join(root, "before/.git"))]).toEqual([false, true]);
    init("armed");
    arm("armed");
    expect(await watch.findChanges()).toEqual([expect.stringContaining("renamed to .git.untrusted.2")]);
  });

  test("sets a repository aside whatever stands where its new name would be", async () => {
    const watch = await openWatch();
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

  test("sets aside what has become a bare repository or settings of agentcli, whatever was there before", async () => {
    for (const name of ["docs/objects", "docs/refs", "docs/settings"]) mkdirSync(join(root, name), { recursive: true });
    const created = lstatSync(join(root, "docs/settings")).birthtimeMs;
    await expect.poll(() => Date.now() - created).toBeGreaterThan(50);
    const nested = { ...(await findNestedRepositories([root])), isComplete: false };
    const watch = watchRepositories({
      ...{ roots: [root], nested, rootRepositories: "protected", newRepositories: "set-aside" },
    });
    for (const name of ["bare", "sub"]) mkdirSync(join(root, name));
    for (const name of ["objects", "refs"]) renameSync(join(root, "docs", name), join(root, "bare", name));
    execFileSync("git", ["init", "-q", "--bare", join(root, "bare")]);
    arm("bare");
    writeFileSync(join(root, "docs/settings/config.toml"), "");
    renameSync(join(root, "docs/settings"), join(root, "sub/.agentcli"));
    expect(await watch.findChanges()).toEqual([
      expect.stringContaining("created the git repository in bare. Its HEAD was renamed to HEAD.untrusted"),
      expect.stringContaining("created settings of agentcli in sub. Its .agentcli was renamed to .agentcli.untrusted"),
    ]);
  });

  test("sets a repository aside in the workspace itself if it had none", async () => {
    const nested = await findNestedRepositories([root]);
    const watch = watchRepositories({
      ...{ roots: [root], nested, rootRepositories: "watched", newRepositories: "set-aside" },
    });
    init(".");
    arm(".");
    expect(await watch.findChanges()).toEqual([
      expect.stringContaining("created the git repository in the workspace. Its .git was renamed to .git.untrusted"),
    ]);
    init(".");
    arm(".");
    expect(await watch.findChanges()).toEqual([expect.stringContaining("renamed to .git.untrusted.2")]);
  });

  test("leaves a repository of before where it is, whatever git replaced in it", async () => {
    init("vendor");
    arm("vendor");
    const created = lstatSync(join(root, "vendor/.git/objects")).birthtimeMs;
    await expect.poll(() => Date.now() - created).toBeGreaterThan(50);
    const nested = {
      repositories: [],
      protected: [],
      settings: [],
      bareSettings: [],
      unreadable: [],
      isComplete: false,
    };
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

  test("enters directories that the run made unreadable, and gives them their permissions back", async () => {
    const watch = await openWatch();
    init(...Array.from({ length: 25 }, (_, index) => `plain${String(index).padStart(2, "0")}`));
    init("perm/inner");
    arm("perm/inner");
    chmodSync(join(root, "perm"), 0o311);
    try {
      const [first] = await watch.findChanges();
      expect(first).toContain("in perm/inner. Its .git was renamed");
      expect(lstatSync(join(root, "perm")).mode & 0o777).toBe(0o311);
    } finally {
      chmodSync(join(root, "perm"), 0o755);
    }
  });

  test("leaves new repositories where they are if they are allowed", async () => {
    const watch = await openWatch("kept");
    init("armed");
    arm("armed");
    expect(await watch.findChanges()).toEqual([
      expect.stringMatching(/^This run created .* in armed\. Check its \.git/),
    ]);
    expect(existsSync(join(root, "armed/.git"))).toBe(true);
  });

  test("does not write what a name contains to a terminal", async () => {
    const watch = await openWatch();
    init("a\u001b]0;b\u0007\u202ec");
    expect(await watch.findChanges()).toEqual([expect.stringContaining("repository in a\ufffd]0;b\ufffd\ufffdc.")]);
  });

  test("sets aside what the index names behind more directories than it searches, and says that it did not search all", async () => {
    init(".");
    const nested = await findNestedRepositories([root]);
    const watch = watchRepositories({
      ...{ roots: [root], nested, rootRepositories: "watched", newRepositories: "set-aside", maxEntries: 100 },
    });
    for (let index = 0; index < 100; index += 1) mkdirSync(join(root, `many/${index}`), { recursive: true });
    const decoys = Array.from({ length: 99 }, (_, index) => `many/${index}`);
    init("many/99/below/vendor", "many/99/below/other");
    for (const name of ["vendor", "other"]) arm(`many/99/below/${name}`);
    const entries = [...decoys, "many/99/below/vendor"].map((path) => `160000 ${"1".repeat(40)}\t${path}\n`);
    execFileSync("git", ["update-index", "--index-info"], { cwd: root, input: entries.join("") });
    expect(await watch.findChanges()).toEqual([
      expect.stringContaining("what is far below its top was not checked, except what its index names"),
      expect.stringContaining("in many/99/below/vendor. Its .git was renamed to .git.untrusted"),
    ]);
    const isThere = (name: string) => existsSync(join(root, `many/99/below/${name}/.git`));
    expect([isThere("vendor"), isThere("other")]).toEqual([false, true]);
  });

  test("reports what it cannot search or check, and still sets the others aside", async () => {
    const watch = await openWatch();
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
});
