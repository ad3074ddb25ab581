import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join, relative } from "node:path";
import { newId } from "@agentcli/host/sessions";
import { type TemporaryRepository, temporaryRepository } from "@agentcli/testkit";
import { openHostPrograms } from "@agentcli/workspace";
import { expect, onTestFinished, test } from "vitest";
import { openWorktree, reopenWorktree, type Worktree } from "../src/exec/worktree.ts";
import { temporaryHome } from "./session-files.ts";

interface Scene {
  repository: TemporaryRepository;
  logged: string[];
  open(directory?: string): Promise<Worktree>;
  reopen(worktree: Worktree, agentHome?: string): Promise<Worktree>;
}

async function scene(files?: Record<string, string>): Promise<Scene> {
  const repository = await temporaryRepository(files);
  onTestFinished(repository.remove);
  const home = await temporaryHome();
  const logged: string[] = [];
  const context = {
    environment: {
      variables: process.env,
      agentHome: home,
      userHome: home,
      systemDirectory: "/nowhere",
      cwd: repository.path,
      programs: openHostPrograms({ path: process.env.PATH, home: home, untrusted: [] }),
    },
    log: (line: string) => void logged.push(line),
  };
  return {
    repository,
    logged,
    open: (directory = ".") => openWorktree({ directory, threadId: newId(Date.now()), ...context }),
    reopen: ({ origin }, agentHome = home) =>
      reopenWorktree(origin, { ...context, environment: { ...context.environment, agentHome } }),
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
  expect(here.logged.at(-1)).toContain("unchanged and was removed");
});

test.each<[string, (path: string) => void]>([
  ["a changed file", (path) => writeFileSync(join(path, "README.md"), "changed")],
  ["a new file", (path) => writeFileSync(join(path, "new.txt"), "new")],
  ["a removed file", (path) => rmSync(join(path, "README.md"))],
  ["a commit and nothing else", (path) => commit(path)],
  ["a commit on a detached head", (path) => commit(path, "--detach")],
])("one with %s is kept, and its path and branch are reported", async (_, change) => {
  const here = await scene();
  const worktree = await here.open();
  change(worktree.cwd);
  await worktree.settle();
  expect(existsSync(worktree.cwd)).toBe(true);
  const { path, branch } = worktree.origin;
  expect(here.logged.at(-1)).toBe(`The worktree has changes and was kept: ${path} (branch ${branch})`);
});

test("one that cannot be looked at is kept", async () => {
  const here = await scene();
  const worktree = await here.open();
  writeFileSync(join(worktree.cwd, ".git"), "gitdir: /nowhere");
  await worktree.settle();
  expect(existsSync(worktree.cwd)).toBe(true);
  expect(here.logged.join("\n")).toContain("which was kept");
});

test("work begins in the same subdirectory, at the current commit", async () => {
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

test("a thread finds its worktree again, as it left it or again from its starting commit", async () => {
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

test("a worktree that is gone is created again below the agent home of now", async () => {
  const here = await scene();
  const removed = await here.open();
  await removed.settle();
  const moved = await temporaryHome();
  const again = await here.reopen(removed, moved);
  expect(again.cwd).toBe(join(realpathSync(moved), "worktrees", basename(removed.cwd)));
  expect(existsSync(join(again.cwd, "README.md"))).toBe(true);
  await again.settle();
  expect(existsSync(again.cwd)).toBe(false);
});

test("one whose .git names its repository by a relative path is settled as any other", async () => {
  const here = await scene();
  const worktree = await here.open();
  const file = join(worktree.cwd, ".git");
  const target = readFileSync(file, "utf8").trim().replace("gitdir: ", "");
  writeFileSync(file, `gitdir: ${relative(worktree.cwd, target)}\n`);
  await worktree.settle();
  expect(existsSync(worktree.cwd)).toBe(false);
  expect(here.logged.at(-1)).toContain("unchanged and was removed");
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

test.each([
  ["the repository", "filter"],
  ["settings for worktrees alone", "include"],
])("no filter that %s names runs when a worktree is made, left and made again", async (_, kind) => {
  const here = await scene({ "README.md": "stored\n", ".gitattributes": "* filter=planted\n" });
  const ran = join(here.repository.path, ".git/ran");
  const filter = `[filter "planted"]\nsmudge = "touch ${ran}; cat"\nclean = "touch ${ran}; cat"\nrequired = true\n`;
  const file = join(here.repository.path, ".git/config");
  writeFileSync(`${file}.more`, filter);
  const include = `[includeIf "gitdir:**/worktrees/**"]\npath = ${file}.more\n`;
  appendFileSync(file, kind === "filter" ? filter : include);
  const worktree = await here.open();
  expect(readFileSync(join(worktree.cwd, "README.md"), "utf8")).toBe("stored\n");
  utimesSync(join(worktree.cwd, "README.md"), 1, 1);
  await worktree.settle();
  const again = await here.reopen(worktree);
  expect(readFileSync(join(again.cwd, "README.md"), "utf8")).toBe("stored\n");
  expect(existsSync(ran)).toBe(false);
});

test("one with something in a submodule is kept, and nothing planted there is run", async () => {
  const here = await scene();
  const commit = (await here.repository.git("rev-parse", "HEAD")).trim();
  await here.repository.git("update-index", "--add", "--cacheinfo", `160000,${commit},inner`);
  await here.repository.git("commit", "-qm", "Point to a submodule");
  const empty = await here.open();
  await empty.settle();
  expect(existsSync(empty.cwd)).toBe(false);
  const worktree = await here.open();
  const inner = join(worktree.cwd, "inner");
  execFileSync("git", ["clone", "-q", here.repository.path, inner]);
  execFileSync("git", ["-C", inner, "checkout", "-q", commit]);
  writeFileSync(join(inner, ".git/info/attributes"), "* filter=planted\n");
  execFileSync("git", ["-C", inner, "config", "filter.planted.clean", `touch ${inner}/planted; cat`]);
  utimesSync(join(inner, "README.md"), 1, 1);
  await worktree.settle();
  expect(existsSync(join(inner, "README.md"))).toBe(true);
  expect(existsSync(join(inner, "planted"))).toBe(false);
});
