// Git commands as models write them: in the sandbox they do what they do without one, to the last object name.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OpenedWorkspace } from "../../../src/lifecycle/lazy.ts";
import { bash } from "../../support/commands.ts";
import { sandboxes, toolEnv } from "../../support/locations.ts";

/** In this order, each on the result of those before. */
const commandLines = [
  "echo 1 > one.txt && git add one.txt && git commit -m 'one'",
  "mkdir -p src && cd src && echo 2 > two.ts && git add . && git commit -qm two",
  "git add -A && git status --short | head",
  "echo 3 > three.txt; git add three.txt; git commit -m \"$(cat <<'EOF'\nAdd three\n\nWith a body.\nEOF\n)\"",
  "echo 4 > four.txt && git add four.txt && git commit -F - <<'EOF'\nAdd four\nEOF",
  "printf 'from a pipe\\n' | git commit --allow-empty -F -",
  "git -c user.name=Bob -c user.email=bob@example.com commit --allow-empty -m 'by Bob'",
  "GIT_AUTHOR_NAME=Eve GIT_AUTHOR_EMAIL=eve@example.com git commit --allow-empty -m 'by Eve'",
  "git commit --allow-empty -m 'with author' --author='Mallory <m@example.com>'",
  "git log --oneline -5 | cat && git diff HEAD~1 --stat",
  "echo changed > one.txt && git diff | grep changed && git restore one.txt",
  "echo changed > one.txt && git checkout -- one.txt",
  "echo changed > one.txt && git add one.txt && git restore --staged one.txt && git checkout -q one.txt",
  "git checkout -b feature/a && echo a > a.txt && git add a.txt && git commit -qm 'on a'",
  "git switch -c feature/b main && echo b > b.txt && git add -A && git commit -qm 'on b'",
  "git checkout -q main && git branch --list",
  "git merge --no-ff -m 'merge a' feature/a",
  "git merge --no-edit feature/b",
  "echo wip > one.txt && echo new > untracked.txt && git stash push -u -m 'work in progress'",
  "echo second > one.txt && git stash",
  "git stash list && git stash show -p | head -20",
  "git stash pop",
  "git checkout . && git stash pop && git stash list",
  "git add -A && git commit -qm 'after the stash'",
  "git tag v1 && git tag -a v1.0 -m 'version one' HEAD~1 && git tag -l",
  "git tag -d v1",
  "git reset --soft HEAD~1 && git commit -qm 'again'",
  "git reset -q HEAD~1 && git add . && git commit -qm 'once again'",
  "git reset -q --hard HEAD~1",
  "git cherry-pick ORIG_HEAD",
  "git revert --no-edit HEAD",
  "git switch -q -c topic HEAD~2 && echo t1 > t.txt && git add t.txt && git commit -qm t1 && echo t2 >> t.txt && git commit -qam t2",
  "git rebase -q main",
  "GIT_SEQUENCE_EDITOR=\"sed -i '2s/^pick/fixup/'\" git rebase -q -i HEAD~2",
  "GIT_EDITOR=\"sed -i '1s/.*/reworded/'\" git commit -q --amend",
  "git commit --amend --no-edit --allow-empty -q",
  "git checkout -q main && git merge --ff-only topic && git branch -d topic",
  "git branch -m feature/b renamed && git branch -D feature/a",
  "git switch -q -c left && echo left > one.txt && git commit -qam left && git switch -q main && echo right > one.txt && git commit -qam right",
  "git merge left || git status --short",
  "echo both > one.txt && git add one.txt && git commit --no-edit -q",
  "git checkout -q -b picks HEAD~1 && git cherry-pick left || echo both > one.txt",
  "git add one.txt && git cherry-pick --continue",
  "git rebase -q --onto HEAD~2 HEAD~1 || git rebase --abort",
  "git checkout -q main && git rm -q four.txt && git mv three.txt renamed.txt && git commit -qm 'move and remove'",
  "git checkout -q HEAD~1 && git switch -q -",
  "git checkout HEAD~1 -- four.txt && git commit -qm 'bring it back'",
  "chmod +x src/two.ts && ln -s one.txt link && git add -A && git commit -qm modes",
  "git clean -fdq && git gc -q && git fsck --strict --no-dangling",
  "git log --all --oneline --graph | wc -l",
];

describe.each(sandboxes)("in %s", (_, open) => {
  let base = "";
  let workspace: OpenedWorkspace;
  let env: Record<string, string>;
  const [sandboxed, plain] = [() => join(base, "sandboxed"), () => join(base, "plain")];

  beforeAll(async () => {
    base = realpathSync(mkdtempSync("/var/tmp/git-commands-"));
    mkdirSync(join(base, "home"));
    writeFileSync(join(base, "home/.gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.com\n");
    const { GIT_AUTHOR_NAME: _, GIT_AUTHOR_EMAIL: __, ...rest } = toolEnv();
    const date = "2026-01-02T03:04:05Z";
    env = { ...rest, HOME: join(base, "home"), GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    execFileSync("git", ["init", "-q", "-b", "main", plain()], { env });
    // What a person would have at hand, so that both accept the message that git proposes.
    execFileSync("git", ["-C", plain(), "config", "core.editor", "true"], { env });
    cpSync(plain(), sandboxed(), { recursive: true });
    workspace = await open({ mode: "workspace-write", root: sandboxed() }, env);
  });
  afterAll(async () => {
    await workspace.close();
    rmSync(base, { recursive: true, force: true });
  });

  /** All that a later git command could see. */
  function stateOf(root: string): string[] {
    const git = (...words: string[]) => spawnSync("git", words, { cwd: root, env, encoding: "utf8" }).stdout;
    return [
      git("for-each-ref", "--format=%(objectname) %(refname)"),
      git("symbolic-ref", "-q", "HEAD") || git("rev-parse", "HEAD"),
      git("ls-files", "--stage"),
      git("status", "--porcelain=v2"),
      git("stash", "list", "--format=%H %s"),
    ];
  }

  test.each(commandLines)("%s", async (script) => {
    const expected = spawnSync("bash", ["-c", script], { cwd: plain(), env, encoding: "utf8" });
    const { result, stdout, stderr } = await bash(workspace, script);
    expect({ ...result, stdout, stderr }).toMatchObject({ exitCode: expected.status, stdout: expected.stdout });
    expect(stateOf(sandboxed())).toEqual(stateOf(plain()));
  });

  test("the repository is whole afterwards", () => {
    execFileSync("git", ["fsck", "--strict"], { cwd: sandboxed(), env, stdio: "pipe" });
  });
});
