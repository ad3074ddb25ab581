// Committing from a real sandbox into real repositories: it works, and only commits come out.
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
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

  test("works in a submodule and in another repository below, whose .git is read-only too", async () => {
    git(base, "clone", "-q", root, join(base, "source"));
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", join(base, "source"), "lib");
    git(root, "commit", "-q", "-m", "submodule");
    git(root, "init", "-q", "-b", "main", "tools/own");
    const inside = await open();
    expect((await bash(inside, "git -C tools/own config a.b c")).stderr).toContain("Read-only file system");
    for (const directory of ["lib", "tools/own"]) {
      await bash(inside, `echo x > ${directory}/x`);
      const output = await bash(inside, `git -C ${directory} add x && git -C ${directory} commit -qm inside`);
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
    const output = await bash(inside, "echo t > t; git add t");
    expect(output.stderr).toContain("Read-only file system");
    expect(await bash(inside, "git add t && git commit -qm 'in the tree'")).toMatchObject({
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

  test("shows git's messages when it fails, and keeps the staged changes", async () => {
    rmSync(join(base, "home/.gitconfig"));
    const inside = await open();
    await bash(inside, "echo x > x");
    const output = await bash(inside, "git add x && git commit -m x");
    expect(output.result).toMatchObject({ exitCode: 128 });
    expect(output.stderr).toContain("Please tell me who you are");
    expect(git(root, "status", "--porcelain")).toBe("A  x\n");
    expect((await bash(inside, "git commit -m x --author='B <b@c>'")).result).toMatchObject({ exitCode: 128 });
    const noMessage = await bash(inside, "git commit");
    expect(noMessage.result).not.toMatchObject({ exitCode: 0 });
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
    expect((await bash(inside, "ls -d /tmp/.agent-commit-*; true")).stdout).toBe("");
  });

  test("two at once run one after the other", async () => {
    const inside = await open();
    await bash(inside, "echo a > a; echo b > b");
    const both = await Promise.all([
      bash(inside, "git add a && git commit -qm a"),
      bash(inside, "git add b && git commit -qm b"),
    ]);
    expect(both.map(({ result }) => result)).toMatchObject([{ exitCode: 0 }, { exitCode: 0 }]);
    expect(log("%s")).toEqual(["b", "a", "first"]);
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

  test("a branch that moved meanwhile is not changed, and the command fails", async () => {
    const inside = await open();
    await bash(inside, "mkfifo /tmp/message; echo a > a");
    const running = bash(inside, "git add a && git commit -F /tmp/message");
    await until(async () => (await bash(inside, "ls -d /tmp/.agent-commit-*/git/index.before; true")).stdout !== "");
    git(root, "commit", "-q", "--allow-empty", "-m", "by the user");
    await bash(inside, "echo late > /tmp/message");
    const output = await running;
    expect(output.result).toMatchObject({ exitCode: 1 });
    expect(output.stderr).toContain("could not be imported into the repository");
    expect(log("%s")).toEqual(["by the user", "first"]);
  });
});

describe("nothing but a commit", () => {
  test.each([
    ["another command after it", "git commit --allow-empty -m x; touch .git/planted"],
    ["another command before it", "touch .git/planted; git commit --allow-empty -m x"],
    ["a redirection", "git commit --allow-empty -m x > .git/planted"],
    ["a substitution", 'git commit --allow-empty -m "$(touch .git/planted)"'],
    ["other settings", "git -c core.hooksPath=. commit --allow-empty -m x"],
    [
      "other subcommands",
      "git branch planted; git tag planted; git config planted.x y; git stash; git update-ref refs/heads/planted HEAD",
    ],
    ["writing there", "echo x > .git/planted; mkdir .git/hooks; cp first.txt .git/hooks/pre-commit"],
  ])("changes .git: not %s", async (_what, script) => {
    const before = snapshot(join(root, ".git"));
    await bash(await open(), script);
    expect(snapshot(join(root, ".git"))).toEqual(before);
  });

  test("changes .git where commits are switched off", async () => {
    const before = snapshot(join(root, ".git"));
    const output = await bash(await open({ git: "none" }), "git commit --allow-empty -m x");
    expect(output.result).not.toMatchObject({ exitCode: 0 });
    expect(snapshot(join(root, ".git"))).toEqual(before);
  });

  test("runs in a commit: no hook, monitor, filter, alias, editor or signature of the repository", async () => {
    const planted = join(root, "planted");
    const script = `#!/bin/sh\ntouch ${planted}\n`;
    const config = `[core]\n\tfsmonitor = ${base}/evil\n\teditor = ${base}/evil\n\tpager = ${base}/evil\n\thooksPath = ${base}/hooks
[alias]\n\tadd = !${base}/evil\n\tcommit = !${base}/evil\n[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = ${base}/evil
[diff]\n\texternal = ${base}/evil\n[include]\n\tpath = ${base}/more\n`;
    mkdirSync(join(base, "hooks"));
    for (const path of [
      join(base, "evil"),
      ...hookPaths(join(base, "hooks")),
      ...hookPaths(join(root, ".git/hooks")),
    ]) {
      writeFileSync(path, script, { mode: 0o755 });
      chmodSync(path, 0o755);
    }
    writeFileSync(join(base, "more"), `[core]\n\tfsmonitor = ${base}/evil\n`);
    appendFileSync(join(root, ".git/config"), config);
    const inside = await open();
    await bash(inside, "echo x > x");
    const output = await bash(inside, "git add x && git commit -v -m x && git rm -q x && git commit -qm y");
    expect(output.result).toMatchObject({ exitCode: 0 });
    expect(existsSync(planted)).toBe(false);
    expect(git(root, "-c", "core.fsmonitor=false", "-c", "core.pager=cat", "log", "--format=%s %G?").trim()).toBe(
      "y N\nx N\nfirst N",
    );
  });

  test("a filter of the repository does not run, and the file is not committed without it", async () => {
    appendFileSync(join(root, ".git/config"), `[filter "mine"]\n\tclean = touch ${root}/planted; cat\n`);
    const inside = await open();
    await bash(inside, "echo '*.bin filter=mine' > .gitattributes; echo x > a.bin; echo y > plain");
    const output = await bash(inside, "git add a.bin");
    expect(output.result).not.toMatchObject({ exitCode: 0 });
    expect(output.stderr).toContain("a filter of the repository configuration does not run in the sandbox");
    expect((await bash(inside, "git add plain")).result).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(root, "planted"))).toBe(false);
    expect(git(root, "ls-files")).toBe("first.txt\nplain\n");
  });

  test("comes out of a commit in which other programs run: a filter planted in a repository below", async () => {
    const inside = await open({ nestedRepositories: "allowed" });
    const evil = "touch ../ran ../.git/planted; echo '[core]' >> ../.git/config; cat";
    await bash(
      inside,
      `git init -q below && cd below && echo x > x && git add x &&
       git -c user.name=a -c user.email=a@b commit -qm x && cd .. && git -C below config filter.e.clean "${evil}" &&
       echo '* filter=e' > below/.gitattributes`,
    );
    const before = readFileSync(join(root, ".git/config"), "utf8");
    expect((await bash(inside, "git add below && git commit -m 'with a link'")).result).toMatchObject({ exitCode: 0 });
    await bash(inside, "touch -d 2001-01-01 below/x");
    expect((await bash(inside, "git add -A && git commit --allow-empty -m again")).result).toMatchObject({
      exitCode: 0,
    });
    expect(existsSync(join(root, "ran"))).toBe(true);
    expect(existsSync(join(root, ".git/planted"))).toBe(false);
    expect(readFileSync(join(root, ".git/config"), "utf8")).toBe(before);
    expect(log("%s")).toEqual(["again", "with a link", "first"]);
  });

  test("is imported from a private repository that was tampered with", async () => {
    git(root, "commit", "-q", "--allow-empty", "-m", "second");
    const inside = await open();
    await bash(inside, "mkfifo /tmp/message; echo a > a");
    const running = bash(inside, "git add a && git commit -qF /tmp/message");
    await until(async () => (await bash(inside, "ls -d /tmp/.agent-commit-*/git/objects/??/*; true")).stdout !== "");
    const first = git(root, "rev-parse", "HEAD~1").trim();
    const tampering = `cd /tmp/.agent-commit-*/git && blob=$(echo evil | git --git-dir=. hash-object -w --stdin) &&
      printf '[core]\\n\\thooksPath = x\\n' >> config && mkdir -p hooks && cp config hooks/pre-commit &&
      printf '%s\\n' ${first} > refs/heads/main; echo $blob`;
    const tampered = await bash(inside, tampering);
    expect(tampered.stdout).toMatch(/^[0-9a-f]{40}\n$/);
    await bash(inside, "echo message > /tmp/message");
    const output = await running;
    expect(output.result).not.toMatchObject({ exitCode: 0 });
    expect(log("%s")).toEqual(["second", "first"]);
    expect(readdirSync(join(root, ".git"))).not.toContain("planted");
    expect(readFileSync(join(root, ".git/config"), "utf8")).not.toContain("hooksPath");
  });
});

const hookPaths = (directory: string) =>
  ["pre-commit", "post-commit", "commit-msg", "prepare-commit-msg", "post-index-change", "reference-transaction"].map(
    (name) => join(directory, name),
  );

/** Every file with its contents, and every directory. */
const snapshot = (directory: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(directory, { recursive: true, withFileTypes: true }).map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path, entry.isFile() ? readFileSync(path, "latin1") : "directory"];
    }),
  );
