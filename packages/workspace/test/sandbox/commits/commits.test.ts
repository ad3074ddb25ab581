// Git in a real sandbox on real repositories: it works, and only what is safe comes out.
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { OpenedWorkspace } from "../../../src/lifecycle/lazy.ts";
import type { PolicyOptions } from "../../../src/sandbox/policy.ts";
import { bash, exec, freshId, until } from "../../support/commands.ts";
import { openInSandbox, toolEnv } from "../../support/locations.ts";

let base = "";
let root = "";
let workspace: OpenedWorkspace | undefined;
beforeEach(() => {
  // Not under /tmp, which is private inside: the user's git configuration must be visible.
  base = realpathSync(mkdtempSync("/var/tmp/commit-"));
  root = join(base, "repository");
  mkdirSync(join(base, "home"));
  writeFileSync(join(base, "home/.gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.com\n");
  git(base, "init", "-q", "-b", "main", root);
  writeFileSync(join(root, "first.txt"), "first\n");
  git(root, "add", ".");
  git(root, "commit", "-q", "-m", "first");
});
afterEach(async () => {
  await workspace?.close();
  workspace = undefined;
  rmSync(base, { recursive: true, force: true });
});

function git(cwd: string, ...words: string[]): string {
  const env = { ...process.env, HOME: join(base, "home"), GIT_CONFIG_NOSYSTEM: "1" };
  return execFileSync("git", words, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

async function open(choice: Partial<PolicyOptions> = {}): Promise<OpenedWorkspace> {
  const { GIT_AUTHOR_NAME: _, GIT_AUTHOR_EMAIL: __, ...env } = toolEnv();
  workspace = await openInSandbox({ mode: "workspace-write", root, ...choice }, { ...env, HOME: join(base, "home") });
  return workspace;
}

const log = (format = "%an <%ae> %s", cwd = root) => git(cwd, "log", `--format=${format}`).trim().split("\n");

describe("a commit in the sandbox", () => {
  test("stages and commits, as git does without a sandbox", async () => {
    const inside = await open();
    writeFileSync(join(root, "second.txt"), "second\n");
    writeFileSync(join(root, "first.txt"), "changed\n");
    const output = await bash(inside, "git add -A && git commit -m 'two words'");
    expect(output).toMatchObject({ result: { exitCode: 0 }, stderr: "" });
    expect(output.stdout).toMatch(/^\[main [0-9a-f]{7}\] two words\n 2 files changed/);
    expect(log()).toEqual(["Ada <ada@example.com> two words", "Ada <ada@example.com> first"]);
    expect(git(root, "status", "--porcelain")).toBe("");
    expect(git(root, "show", "HEAD:first.txt")).toBe("changed\n");
    git(root, "fsck", "--strict");
    expect((await bash(inside, "git log --format=%s; git status --short")).stdout).toBe("two words\nfirst\n");
  });

  test("works in a submodule and in another repository below", async () => {
    git(base, "clone", "-q", root, join(base, "source"));
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", join(base, "source"), "lib");
    git(root, "commit", "-q", "-m", "submodule");
    git(root, "init", "-q", "-b", "main", "tools/own");
    const inside = await open();
    const config = readFileSync(join(root, "tools/own/.git/config"), "utf8");
    expect((await bash(inside, "git -C tools/own config a.b c")).stderr).toContain("stays in this sandbox");
    expect(readFileSync(join(root, "tools/own/.git/config"), "utf8")).toBe(config);
    for (const directory of ["lib", "tools/own"]) {
      await bash(inside, `echo x > ${directory}/x`);
      const output = await bash(inside, `cd ${directory} && git add x && git commit -qm inside`);
      expect(output).toMatchObject({ result: { exitCode: 0 }, all: "" });
      expect(log("%s", join(root, directory))[0]).toBe("inside");
      expect(git(join(root, directory), "status", "--porcelain")).toBe("");
    }
    const output = await bash(inside, "git add lib && git commit -qm 'newer submodule'");
    expect(output).toMatchObject({ result: { exitCode: 0 }, all: "" });
    expect(git(root, "status", "--porcelain", "--ignore-submodules=none")).toBe("?? tools/\n");
    expect(await inside.findRepositoryChanges?.()).toEqual([]);
  });

  test("may take several commands, with renames, removals, modes and links", async () => {
    const inside = await open();
    await bash(
      inside,
      "mkdir d; echo x > d/tool; chmod +x d/tool; ln -s d/tool link; printf 'b\\0in' > 'odd name\u00fc'",
    );
    expect((await bash(inside, "git add .")).result).toMatchObject({ exitCode: 0 });
    expect(git(root, "diff", "--cached", "--name-only", "-z").split("\0").filter(Boolean)).toHaveLength(3);
    await bash(inside, "git mv first.txt renamed.txt\ngit commit -qm one");
    await bash(inside, "git rm -q d/tool && git commit -qm two; git commit --amend -qm three");
    expect(log("%s")).toEqual(["three", "one", "first"]);
    expect(git(root, "ls-tree", "-r", "HEAD~1").match(/^\d+/gm)).toEqual(["100755", "120000", "100644", "100644"]);
    expect(git(root, "status", "--porcelain")).toBe("");
    git(root, "fsck", "--strict");
  });

  test("takes its message from the private /tmp, and its directory from the call", async () => {
    const inside = await open();
    await bash(inside, "echo 'from a file' > /tmp/message; mkdir sub; echo x > sub/x; echo y > sub/y");
    expect((await bash(inside, "git add x && git commit -qF /tmp/message", { cwd: "sub" })).result).toMatchObject({
      exitCode: 0,
    });
    expect(log("%s")[0]).toBe("from a file");
    expect((await bash(inside, "git -C sub add y && git -C sub commit -qm y")).result).toMatchObject({ exitCode: 0 });
    expect(git(root, "ls-files").split("\n")).toContain("sub/y");
  });

  test("is the first of a repository, or one without a branch", async () => {
    const fresh = join(base, "fresh");
    git(base, "init", "-q", "-b", "trunk", fresh);
    const inside = await open({ root: fresh });
    await bash(inside, "echo x > x");
    expect((await bash(inside, "git add x && git commit -m first")).stdout).toContain("[trunk (root-commit)");
    expect((await bash(inside, "git commit --amend -qm again --allow-empty")).result).toMatchObject({ exitCode: 0 });
    expect(log("%s", fresh)).toEqual(["again"]);
    git(fresh, "checkout", "-q", "--detach");
    expect((await bash(inside, "git commit -qm detached --allow-empty")).result).toMatchObject({ exitCode: 0 });
    expect(log("%s", fresh)).toEqual(["detached", "again"]);
    expect(git(fresh, "log", "--format=%s", "trunk").trim()).toBe("again");
  });

  test("works in a linked working tree, and leaves the others alone", async () => {
    const tree = join(base, "tree");
    git(root, "worktree", "add", "-q", "-b", "feature/deep", tree);
    const inside = await open({ root: tree });
    expect(await bash(inside, "echo t > t; git add t && git commit -qm 'in the tree'")).toMatchObject({
      result: { exitCode: 0 },
      stderr: "",
    });
    expect(log("%s", tree)).toEqual(["in the tree", "first"]);
    expect(log("%s")).toEqual(["first"]);
    expect(git(tree, "status", "--porcelain")).toBe("");
    expect(git(root, "status", "--porcelain")).toBe("");
  });

  test("works where the workspace is a directory inside the repository", async () => {
    mkdirSync(join(root, "part"));
    const inside = await open({ root: join(root, "part") });
    await bash(inside, "echo p > p");
    expect((await bash(inside, "git add p && git commit -qm part")).result).toMatchObject({ exitCode: 0 });
    expect(log("%s")).toEqual(["part", "first"]);
  });

  test("concludes a merge", async () => {
    git(root, "checkout", "-q", "-b", "side");
    writeFileSync(join(root, "first.txt"), "side\n");
    git(root, "commit", "-qam", "side");
    git(root, "checkout", "-q", "main");
    writeFileSync(join(root, "first.txt"), "main\n");
    git(root, "commit", "-qam", "main");
    expect(() => git(root, "merge", "side")).toThrow();
    const inside = await open();
    await bash(inside, "echo both > first.txt");
    expect(await bash(inside, "git add first.txt && git commit -qm merged")).toMatchObject({ result: { exitCode: 0 } });
    expect(git(root, "log", "-1", "--format=%p").trim().split(" ")).toHaveLength(2);
    expect(git(root, "status")).not.toContain("merging");
    expect(git(root, "status", "--porcelain")).toBe("");
  });

  test("without a configured identity it is by a fallback one, and the output says so once", async () => {
    rmSync(join(base, "home/.gitconfig"));
    const inside = await open();
    const output = await bash(inside, "echo x > x; git add x && git commit -qm x");
    expect(output.result).toMatchObject({ exitCode: 0 });
    expect(output.stderr).toBe("No git identity is configured: commits are by agentcli <agentcli@localhost>.\n");
    expect((await bash(inside, "git commit -qm y --allow-empty")).stderr).toBe("");
    expect(log().slice(0, 2)).toEqual(["agentcli <agentcli@localhost> y", "agentcli <agentcli@localhost> x"]);
  });

  test("shows git's messages when it fails, and keeps the staged changes", async () => {
    const inside = await open();
    const output = await bash(inside, "echo x > x; git add x && git commit");
    expect(output.result).toMatchObject({ exitCode: 1 });
    expect(output.stderr).toContain("Aborting commit due to empty commit message");
    expect(git(root, "status", "--porcelain")).toBe("A  x\n");
    expect((await bash(inside, "git commit -m 'unfinished")).stderr).toContain("unexpected EOF");
  });

  test("a commit that times out leaves nothing behind", async () => {
    writeFileSync(
      join(base, "home/.gitconfig"),
      '[user]\n\tname = A\n\temail = a@b\n[filter "slow"]\n\tclean = sleep 60\n',
    );
    writeFileSync(join(root, ".gitattributes"), "*.slow filter=slow\n");
    const inside = await open();
    await bash(inside, "echo x > x.slow");
    const output = await bash(inside, "git add x.slow && git commit -m x", { timeoutMs: 500 });
    expect(output.result).toMatchObject({ exitCode: 124, timedOut: true });
    expect(git(root, "diff", "--cached", "--name-only")).toBe("");
  });

  test("of two commands at once each keeps its commit", async () => {
    git(root, "worktree", "add", "-q", "-b", "side", join(root, "side"));
    const inside = await open();
    const commit = (n: number) => bash(inside, `until git commit -q --allow-empty -m ${n} 2>/dev/null; do :; done`);
    await Promise.all([1, 2, 3, 4].map(commit));
    expect(log("%s").slice(0, 4).sort()).toEqual(["1", "2", "3", "4"]);
    git(root, "fsck", "--strict");
  });

  test("that takes longer than the caller waits is imported too", async () => {
    const inside = await open();
    await bash(inside, "echo a > a");
    const id = freshId();
    const start = { argv: ["bash", "-c", "git add a && git commit -m late"] };
    expect((await exec(inside, { id, start, waitMs: 0 })).result).toMatchObject({ state: "running" });
    await until(() => log("%s")[0] === "late");
    const output = await exec(inside, { id });
    expect(output).toMatchObject({ result: { state: "exited", exitCode: 0 }, stdout: expect.stringContaining("late") });
  });

  test("that runs when the turn ends is imported before the release settles", async () => {
    const inside = await open();
    const start = { argv: ["bash", "-c", "git commit -q --allow-empty -m late; touch committed; sleep 600"] };
    expect((await exec(inside, { id: freshId(), start, waitMs: 0 })).result).toMatchObject({ state: "running" });
    await until(() => existsSync(join(root, "committed")));
    await inside.release([]);
    expect(log("%s")).toEqual(["late", "first"]);
  });

  test("on a branch that the user moved meanwhile fails, and is kept as a branch of its own", async () => {
    const inside = await open();
    const running = bash(inside, "git commit -q --allow-empty -m mine; touch committed; until [ -e go ]; do :; done");
    await until(() => existsSync(join(root, "committed")));
    git(root, "commit", "-q", "--allow-empty", "-m", "by the user");
    writeFileSync(join(root, "go"), "");
    const output = await running;
    expect(output.result).toMatchObject({ exitCode: 1 });
    expect(output.stderr).toContain("Changes in .git could not be imported into the repository");
    const branch = /kept as (agentcli\/[0-9a-f]{12})/.exec(output.stderr)?.[1] ?? "";
    expect(log("%s")).toEqual(["by the user", "first"]);
    expect(git(root, "log", "--format=%s", branch)).toBe("mine\nfirst\n");
    expect((await bash(inside, `git merge -q ${branch} && git log --format=%s -1`)).result).toMatchObject({
      exitCode: 0,
    });
    expect(git(root, "branch", "--contains", branch)).toContain("main");
  });

  test("that locks .git names what cannot be read, and is imported once .git can be read again", async () => {
    const inside = await open();
    const locked = await bash(inside, "git commit -q --allow-empty -m locked; chmod 000 .git");
    expect(locked.result).toMatchObject({ exitCode: 1 });
    expect(locked.stderr).toMatch(/\.git cannot be read in the sandbox \(.*Permission denied\)\. .* Restore what/);
    expect(log("%s")).toEqual(["first"]);
    expect(await bash(inside, "chmod 755 .git")).toMatchObject({ result: { exitCode: 0 }, stderr: "" });
    expect(log("%s")).toEqual(["locked", "first"]);
  });

  test("made in the background is kept when the user changes the repository before the next command", async () => {
    const inside = await open();
    await bash(
      inside,
      "(until [ -e go ]; do :; done; git commit -q --allow-empty -m late; touch committed) >/dev/null 2>&1 &",
    );
    writeFileSync(join(root, "go"), "");
    await until(() => existsSync(join(root, "committed")));
    git(root, "branch", "of-the-user");
    expect((await bash(inside, "git log --format=%s; git branch --list of-the-user")).stdout).toBe(
      "late\nfirst\n  of-the-user\n",
    );
    expect(log("%s")).toEqual(["late", "first"]);
  });

  test("of the user is seen by the next command", async () => {
    const inside = await open();
    git(root, "commit", "-q", "--allow-empty", "-m", "by the user");
    git(root, "tag", "of-the-user");
    expect((await bash(inside, "git log --format=%s; git tag")).stdout).toBe("by the user\nfirst\nof-the-user\n");
  });

  test("runs the hooks and filters of the repository, inside the sandbox", async () => {
    const hook = "#!/bin/sh\ntouch hook-ran; touch /etc/planted-by-hook 2>/dev/null; exit 0\n";
    writeFileSync(join(root, ".git/hooks/pre-commit"), hook, { mode: 0o755 });
    appendFileSync(join(root, ".git/config"), '[filter "upper"]\n\tclean = tr a-z A-Z\n');
    const inside = await open();
    const script = "echo '*.up filter=upper' > .gitattributes; echo x > a.up; git add -A; git commit -qm filtered";
    expect((await bash(inside, script)).result).toMatchObject({ exitCode: 0 });
    expect(git(root, "show", "HEAD:a.up")).toBe("X\n");
    expect(existsSync(join(root, "hook-ran"))).toBe(true);
    expect(existsSync("/etc/planted-by-hook")).toBe(false);
  });
});

describe("what is not imported", () => {
  const settings = ["hooks", "info", "objects/info", "modules", "worktrees"];
  const readSettings = () => [
    readFileSync(join(root, ".git/config"), "utf8"),
    ...settings.map((name) => snapshot(join(root, ".git", name))),
  ];

  test.each([
    ["a file of no meaning", "touch .git/planted", ""],
    ["configuration", "git config core.fsmonitor /tmp/evil", "The change of .git/config stays in this sandbox.\n"],
    [
      "attributes",
      "echo '* filter=evil' > .git/info/attributes",
      "The change of .git/info/attributes stays in this sandbox.\n",
    ],
    ["alternates", "echo /tmp/evil >> .git/objects/info/alternates", ""],
    ["a remote branch", "git update-ref refs/remotes/origin/main HEAD", ""],
    ["a replacement", "git update-ref refs/replace/$(git rev-parse HEAD) HEAD", ""],
    ["a symbolic branch", "git symbolic-ref refs/heads/planted refs/heads/main", ""],
    ["a working tree", "git worktree add -q /tmp/tree", ""],
  ])("%s", async (_what, script, note) => {
    const [before, references] = [readSettings(), git(root, "for-each-ref")];
    const output = await bash(await open(), script);
    expect(output.stderr.replace(/^Preparing worktree.*\n/, "")).toBe(note);
    expect(readSettings()).toEqual(before);
    expect(git(root, "for-each-ref").replace(/.*refs\/heads\/tree\n/, "")).toBe(references);
    expect(existsSync(join(root, ".git/planted"))).toBe(false);
  });

  test("a hook: the directory is read-only", async () => {
    const before = readSettings();
    const output = await bash(await open(), "echo x > .git/hooks/pre-commit; git config core.hooksPath /tmp/hooks");
    expect(output.stderr).toContain("Read-only file system");
    expect(readSettings()).toEqual(before);
  });

  test("a commit in a repository elsewhere, to which a .git file below leads", async () => {
    const other = join(base, "other");
    git(base, "clone", "-q", root, other);
    mkdirSync(join(root, "x"));
    writeFileSync(join(root, "x/.git"), `gitdir: ${other}/.git\n`);
    const output = await bash(await open(), "cd x && git commit -q --allow-empty -m evil");
    expect(output.result).not.toMatchObject({ exitCode: 0 });
    expect(log("%s", other)).toEqual(["first"]);
  });

  test("anything of a repository that git cannot read: it is read-only", async () => {
    writeFileSync(join(root, ".git/config"), "[core\n");
    const before = snapshot(join(root, ".git"));
    const output = await bash(await open(), "rm -f .git/config; git init -q; git commit -q --allow-empty -m x");
    expect(output.result).not.toMatchObject({ exitCode: 0 });
    expect(output.stderr).toContain("Read-only file system");
    expect(snapshot(join(root, ".git"))).toEqual(before);
  });

  test("anything where commits are switched off", async () => {
    const before = snapshot(join(root, ".git"));
    const output = await bash(await open({ git: "none" }), "git commit --allow-empty -m x");
    expect(output.result).not.toMatchObject({ exitCode: 0 });
    expect(snapshot(join(root, ".git"))).toEqual(before);
  });

  test("a new submodule, in the index or in a commit", async () => {
    const inside = await open();
    const nested = "git init -q below && git -C below commit -q --allow-empty -m x && git add below 2>/dev/null";
    const staged = await bash(inside, nested);
    expect(staged.stderr).toContain('"below" is a git repository of its own, which the sandbox does not add.');
    const committed = await bash(inside, "git commit -qm 'with a link'");
    expect(committed.result).toMatchObject({ exitCode: 1 });
    expect(committed.stderr).toContain(
      '"below" is a git repository of its own, which the sandbox does not add. Commit again without it.',
    );
    expect(git(root, "ls-files")).toBe("first.txt\n");
    expect(log("%s")).toEqual(["first"]);
    expect(
      (await bash(inside, "git rm -q --cached below; git commit -q --amend --allow-empty -m without")).result,
    ).toMatchObject({
      exitCode: 0,
    });
    expect(log("%s")).toEqual(["without", "first"]);
  });

  test.each([
    ["a branch on a blob", "git hash-object -w first.txt > .git/refs/heads/main"],
    ["a branch on a missing object", "printf '%040d\n' 1 > .git/refs/heads/main"],
    ["a HEAD outside the branches", "echo 'ref: refs/../config' > .git/HEAD"],
    [
      "a damaged stash",
      "mkdir -p .git/logs/refs; echo evil > .git/logs/refs/stash; git rev-parse HEAD > .git/refs/stash",
    ],
    ["links in place of directories", "rm -rf .git/refs; ln -s /etc .git/refs; rm -rf .git/info; ln -s /etc .git/info"],
    ["a rebase that runs commands", "mkdir .git/rebase-merge; echo 'exec evil' > .git/rebase-merge/git-rebase-todo"],
    [
      "a file whose name has a line break",
      "mkdir .git/rebase-merge; echo '[core]' > .git/config; touch .git/rebase-merge/x$'\\n'config; git add -A",
    ],
  ])("a state that was tampered with: %s", async (_what, script) => {
    const before = [git(root, "for-each-ref"), git(root, "symbolic-ref", "HEAD"), readSettings()];
    await bash(await open(), script);
    expect([git(root, "for-each-ref"), git(root, "symbolic-ref", "HEAD"), readSettings()]).toEqual(before);
    expect(existsSync(join(root, ".git/rebase-merge"))).toBe(false);
    git(root, "fsck", "--strict");
  });
});

/** Every file with its contents, and every directory. */
const snapshot = (directory: string): Record<string, string> =>
  Object.fromEntries(
    (existsSync(directory) ? readdirSync(directory, { recursive: true, withFileTypes: true }) : []).map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path, entry.isFile() ? readFileSync(path, "latin1") : "directory"];
    }),
  );
