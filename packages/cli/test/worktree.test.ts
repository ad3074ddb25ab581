import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TemporaryRepository, temporaryRepository } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { newId } from "../src/sessions/thread-id.ts";
import { openWorktree, reopenWorktree, type Worktree } from "../src/worktree.ts";
import { temporaryHome } from "./session-files.ts";

interface Scene {
  repository: TemporaryRepository;
  said: string[];
  open(directory?: string): Promise<Worktree>;
  reopen(worktree: Worktree): Promise<Worktree>;
}

async function scene(files?: Record<string, string>): Promise<Scene> {
  const repository = await temporaryRepository(files);
  onTestFinished(repository.remove);
  const home = await temporaryHome();
  const said: string[] = [];
  const around = {
    environment: {
      variables: process.env,
      agentHome: home,
      userHome: home,
      systemDirectory: "/nowhere",
      cwd: repository.path,
    },
    say: (line: string) => void said.push(line),
  };
  return {
    repository,
    said,
    open: (directory = ".") => openWorktree({ directory, threadId: newId(Date.now()), ...around }),
    reopen: ({ origin }) => reopenWorktree(origin, around),
  };
}

const trees = async ({ repository }: Scene) => (await repository.git("worktree", "list")).trim().split("\n").length;
const branches = async ({ repository }: Scene) => (await repository.git("branch", "--list", "agentcli/*")).trim();

test("one without changes is removed with its branch", async () => {
  const here = await scene();
  const worktree = await here.open();
  expect(existsSync(join(worktree.cwd, "README.md"))).toBe(true);
  expect(await trees(here)).toBe(2);
  await worktree.settle();
  expect({ there: existsSync(worktree.cwd), trees: await trees(here), branches: await branches(here) }).toEqual({
    there: false,
    trees: 1,
    branches: "",
  });
  expect(here.said.at(-1)).toContain("unchanged and was removed");
});

test.each<[string, (path: string) => void]>([
  ["a changed file", (path) => writeFileSync(join(path, "README.md"), "changed")],
  ["a new file", (path) => writeFileSync(join(path, "new.txt"), "new")],
  ["a removed file", (path) => rmSync(join(path, "README.md"))],
  ["a commit and nothing else", (path) => commit(path)],
  ["a commit on a detached head", (path) => commit(path, "--detach")],
])("one with %s is kept, and its place and branch are said", async (_, change) => {
  const here = await scene();
  const worktree = await here.open();
  change(worktree.cwd);
  await worktree.settle();
  expect(existsSync(worktree.cwd)).toBe(true);
  const { path, branch } = worktree.origin;
  expect(here.said.at(-1)).toBe(`The worktree has changes and was kept: ${path} (branch ${branch})`);
});

test("one that cannot be looked at is kept", async () => {
  const here = await scene();
  const worktree = await here.open();
  writeFileSync(join(worktree.cwd, ".git"), "gitdir: /nowhere");
  await worktree.settle();
  expect(existsSync(worktree.cwd)).toBe(true);
  expect(here.said.join("\n")).toContain("could not be looked at");
});

test("work begins in the same subdirectory, and at what is committed", async () => {
  const here = await scene({ "inner/deep/a.txt": "committed" });
  writeFileSync(join(here.repository.path, "inner/deep/a.txt"), "not committed");
  const worktree = await here.open("inner/deep");
  expect(worktree.cwd.endsWith("/inner/deep")).toBe(true);
  expect(readFileSync(join(worktree.cwd, "a.txt"), "utf8")).toBe("committed");
  await worktree.settle();
});

test("eight at once are eight, and all go", async () => {
  const here = await scene();
  const opened = await Promise.all(Array.from({ length: 8 }, () => here.open()));
  expect(new Set(opened.map(({ cwd }) => cwd)).size).toBe(8);
  await Promise.all(opened.map((worktree) => worktree.settle()));
  expect({ trees: await trees(here), branches: await branches(here) }).toEqual({ trees: 1, branches: "" });
});

test("the hooks of the repository do not run", async () => {
  const here = await scene();
  const mark = join(here.repository.path, "hook-ran");
  const hooks = join(here.repository.path, ".git/hooks");
  mkdirSync(hooks, { recursive: true });
  writeFileSync(join(hooks, "post-checkout"), `#!/bin/sh\ntouch ${mark}\n`);
  chmodSync(join(hooks, "post-checkout"), 0o755);
  await (await here.open()).settle();
  expect(existsSync(mark)).toBe(false);
});

test("a thread finds its worktree again, as it left it or once more from where it began", async () => {
  const here = await scene();
  const kept = await here.open();
  writeFileSync(join(kept.cwd, "mine.txt"), "mine");
  await kept.settle();
  expect(readFileSync(join((await here.reopen(kept)).cwd, "mine.txt"), "utf8")).toBe("mine");
  const removed = await here.open();
  await removed.settle();
  const again = await here.reopen(removed);
  expect(again.cwd).toBe(removed.cwd);
  expect(existsSync(join(again.cwd, "README.md"))).toBe(true);
  await again.settle();
  expect(existsSync(removed.cwd)).toBe(false);
});

test("outside a repository, or before its first commit, there is none", async () => {
  const here = await scene();
  const bare = await temporaryHome();
  await expect(here.open(bare)).rejects.toThrow("--worktree needs a git repository");
  execFileSync("git", ["init", "--quiet", bare]);
  await expect(here.open(bare)).rejects.toThrow("needs a commit to start from");
});

function commit(path: string, ...checkout: string[]): void {
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.org", ...args], { cwd: path });
  if (checkout.length > 0) git("checkout", "--quiet", ...checkout);
  git("commit", "--quiet", "--allow-empty", "--message=work");
}
