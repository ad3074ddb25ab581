// Links and names in a git directory that lead the user's next commit, stash or checkout out of the repository.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findNestedRepositories } from "../../../src/sandbox/repositories/nested.ts";
import { watchRepositories } from "../../../src/sandbox/repositories/watch.ts";
import { eachTestHasARoot, init, root } from "./watched-root.ts";

eachTestHasARoot();

const git = (directory: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], {
    cwd: join(root, "work", directory),
    env: { ...process.env, EDITOR: "true" },
    stdio: "pipe",
  });

/** Git refuses such a name, so it is written over one of the same length. */
function addToIndex(directory: string, name: string): void {
  const plain = "n".repeat(name.length);
  writeFileSync(join(root, "work", directory, plain), "planted\n");
  git(directory, "add", plain);
  const path = join(root, "work", directory, ".git/index");
  const text = readFileSync(path).toString("latin1").replace(plain, name).slice(0, -20);
  const bytes = Buffer.from(text, "latin1");
  writeFileSync(path, Buffer.concat([bytes, createHash("sha1").update(bytes).digest()]));
}

/** As on Landlock, where the repository of the workspace itself is not protected. */
async function openWatch() {
  init("work");
  git("", "commit", "-q", "--allow-empty", "-m", "first");
  const roots = [join(root, "work")];
  const nested = await findNestedRepositories(roots);
  return watchRepositories({ roots, nested, rootRepositories: "watched", newRepositories: "set-aside" });
}

function makeNew(): void {
  init("work/vendor");
  rmSync(join(root, "work/vendor/.git/hooks"), { recursive: true });
  git("vendor", "commit", "-q", "--allow-empty", "-m", "first");
}

describe("a run that leads git of the user elsewhere", () => {
  test.each(["COMMIT_EDITMSG", "logs", "ORIG_HEAD"])(
    "by a link in the place of .git/%s is reported, and its new repository is set aside",
    async (name) => {
      const watch = await openWatch();
      makeNew();
      for (const directory of ["", "vendor"]) {
        const path = join(root, "work", directory, ".git", name);
        rmSync(path, { recursive: true, force: true });
        symlinkSync(join(root, "own"), path);
      }
      const why = `git could run programs there (${name} is a link).`;
      expect(await watch.findChanges()).toEqual([
        `This run changed the git repository in the workspace. Check its .git before you run git here: ${why}`,
        expect.stringContaining("created the git repository in vendor. Its .git was renamed to .git.untrusted"),
      ]);
      expect(await watch.findChanges()).toEqual([]);
    },
  );

  test.each([".git/hooks/post-checkout", "../../outside", "/var/tmp/outside", "a/../../x", ".GIT/hooks/x"])(
    "by %s in an index is reported, and its new repository is set aside",
    async (name) => {
      const watch = await openWatch();
      makeNew();
      for (const directory of ["", "vendor"]) addToIndex(directory, name);
      const [own, nested] = await watch.findChanges();
      expect(own).toContain(`in the workspace. Check its .git before you run git here`);
      expect(own).toContain(`(its index names ${name})`);
      expect(nested).toContain("in vendor. Its .git was renamed to .git.untrusted");
      expect(existsSync(join(root, "work/vendor/.git"))).toBe(false);
    },
  );

  test("is not one that stages, commits and stashes", async () => {
    init("work");
    mkdirSync(join(root, "work/.github"));
    const watch = await openWatch();
    for (const name of [".gitignore", "..a", "a..", ".github/x"]) {
      writeFileSync(join(root, "work", name), "text\n");
      git("", "add", name);
    }
    git("", "commit", "-q", "-m", "second");
    writeFileSync(join(root, "work/..a"), "changed\n");
    git("", "stash");
    expect(await watch.findChanges()).toEqual([]);
  });
});
