// Agents that manipulate or damage git's own files: nothing of it is executed or contacted on the host.
import { execFile } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryDirectory } from "@agentcli/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askGit } from "../../src/repositories/git/index.ts";
import { workTreeLocation } from "../../src/repositories/handoff/host-side.ts";
import { never } from "./git-harness.ts";
import { userGit } from "./git-host-harness.ts";
import { agentBranch, type HandoffHarness, openHandoffHarness, shopFiles, write } from "./handoff-harness.ts";

let harness: HandoffHarness;

beforeAll(async () => {
  harness = await openHandoffHarness();
});
afterAll(() => harness.close());

test("nothing that the agent wrote into git's files is executed on the host", async () => {
  const shop = await harness.shop({ "README.md": "# Shop\n" });
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  const outside = await temporaryDirectory();
  const mark = join(outside.path, "ran");
  const program = join(outside.path, "program");
  writeFileSync(program, `#!/bin/sh\ntouch ${mark}\ncat\n`);
  chmodSync(program, 0o755);
  const settings = [
    "core.fsmonitor",
    "core.sshCommand",
    "core.alternateRefsCommand",
    "filter.evil.clean",
    "filter.evil.process",
    "diff.external",
    "credential.helper",
    "core.editor",
    "gpg.program",
  ];
  for (const key of settings) await userGit(root, "config", key, program);
  await userGit(root, "config", "core.hooksPath", outside.path);
  for (const hook of ["pre-commit", "pre-push", "reference-transaction", "post-index-change", "post-commit"])
    symlinkSync(program, join(outside.path, hook));
  write(root, ".gitattributes", "* filter=evil diff=evil\n");
  write(root, "new.txt", "new\n");
  mkdirSync(join(root, "nested"));
  await userGit(join(root, "nested"), "init", "--quiet");
  write(root, "nested/file.txt", "file\n");
  for (const key of settings) await userGit(join(root, "nested"), "config", key, program);
  rmSync(mark, { force: true });
  expect((await agent.finish("New")).faults).toEqual([]);
  expect(existsSync(mark)).toBe(false);
  expect(await shopFiles(shop.directory)).toBe(".gitattributes\nREADME.md\nnew.txt");
  await outside.remove();
});

test("a submodule is not inspected, even if its settings request it", async () => {
  const shop = await harness.shop({ "README.md": "# Shop\n" });
  const commit = await shop.git("rev-parse", "main");
  const index = join(harness.data, "submodule.index");
  const environment = {
    ...process.env,
    GIT_DIR: shop.directory,
    GIT_INDEX_FILE: index,
    GIT_AUTHOR_NAME: "T",
    GIT_AUTHOR_EMAIL: "t@t",
    GIT_COMMITTER_NAME: "T",
    GIT_COMMITTER_EMAIL: "t@t",
  };
  const git = async (...args: string[]) => (await promisify(execFile)("git", args, { env: environment })).stdout.trim();
  await git("read-tree", "main");
  await git("update-index", "--add", "--cacheinfo", `160000,${commit},sub`);
  await git(
    "update-ref",
    "refs/heads/main",
    await git("commit-tree", await git("write-tree"), "-p", commit, "-m", "Sub"),
  );
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  const mark = join(harness.data, "looked");
  await userGit(join(root, "sub"), "init", "--quiet");
  write(root, "sub/file.txt", "file\n");
  await userGit(join(root, "sub"), "add", "--all");
  await userGit(join(root, "sub"), "commit", "--quiet", "--message=Sub");
  await userGit(join(root, "sub"), "config", "core.fsmonitor", `touch ${mark}`);
  write(root, ".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n');
  write(root, "sub/file.txt", "changed\n");
  expect((await agent.finish("New")).faults).toEqual([]);
  expect(existsSync(mark)).toBe(false);
  expect(await shop.git("diff", "--name-only", `main...${await agentBranch(shop.directory)}`)).toBe(".gitmodules");
});

test("objects of another repository cannot be borrowed through alternates or links", async () => {
  const secret = await harness.shop({ "secret.txt": "private text\n" });
  const secretTree = await secret.git("rev-parse", "main^{tree}");
  const shop = await harness.shop();
  for (const trick of ["alternates", "link"]) {
    const agent = await harness.agent([{ url: shop.url }]);
    const { root } = agent.workspace;
    const objects = join(root, ".git/objects");
    const theirs = join(secret.directory, "objects");
    if (trick === "alternates") writeFileSync(join(objects, "info/alternates"), `${theirs}\n`);
    else {
      rmSync(join(objects, "pack"), { recursive: true });
      symlinkSync(join(theirs, "pack"), join(objects, "pack"));
    }
    const environment = {
      ...process.env,
      GIT_AUTHOR_NAME: "T",
      GIT_AUTHOR_EMAIL: "t@t",
      GIT_COMMITTER_NAME: "T",
      GIT_COMMITTER_EMAIL: "t@t",
    };
    const run = promisify(execFile);
    const commit = (
      await run("git", ["commit-tree", secretTree, "-m", "Stolen"], { cwd: root, env: environment })
    ).stdout.trim();
    const { branch = "" } = agent.workspace.repositories[0] ?? {};
    writeFileSync(join(root, ".git/HEAD"), `ref: refs/heads/${branch}\n`);
    mkdirSync(join(root, ".git/refs/heads/platform"), { recursive: true });
    writeFileSync(join(root, ".git/refs/heads", branch), `${commit}\n`);
    write(root, "own.txt", "own\n");
    expect((await agent.finish("New")).faults).toEqual([]);
    expect(await shop.git("ls-tree", "-r", "--name-only", branch)).toBe("README.md\nown.txt");
    expect(existsSync(join(objects, "info/alternates"))).toBe(false);
    expect(await userGit(root, "status", "--porcelain")).toBe("");
  }
});

test("files of an agent are handed off even if it deleted its git directory", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  const outside = await temporaryDirectory({ HEAD: "ref: refs/heads/main\n" });
  rmSync(join(root, ".git"), { recursive: true });
  symlinkSync(outside.path, join(root, ".git"));
  write(root, "new.txt", "new\n");
  expect((await agent.finish("New")).faults).toEqual([]);
  expect(await shopFiles(shop.directory)).toBe("README.md\nnew.txt");
  expect(await userGit(root, "status", "--porcelain")).toBe("");
  await outside.remove();
});

test("an agent can commit in a recreated git directory", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  rmSync(join(root, ".git"), { recursive: true });
  write(root, "new.txt", "new\n");
  await agent.finish("New");
  expect(await userGit(root, "config", "user.email")).toBe("agent@platform.invalid");
});

test("an object that does not match its name does not stop the hand-off", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  write(root, "new.txt", "new\n");
  const name = await userGit(root, "hash-object", "new.txt");
  write(root, "other.txt", "other\n");
  const other = await userGit(root, "hash-object", "-w", "other.txt");
  const pathOf = (object: string) => join(root, ".git/objects", object.slice(0, 2), object.slice(2));
  mkdirSync(join(root, ".git/objects", name.slice(0, 2)), { recursive: true });
  copyFileSync(pathOf(other), pathOf(name));
  expect((await agent.finish("New")).faults).toEqual([]);
  expect(await shop.git("show", `${await agentBranch(shop.directory)}:new.txt`)).toBe("new");
  expect(await userGit(root, "status", "--porcelain")).toBe("");
});

test("a pipe that replaces a file of git does not block the hand-off", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  rmSync(join(root, ".git/HEAD"));
  await promisify(execFile)("mkfifo", [join(root, ".git/HEAD")]);
  write(root, "new.txt", "new\n");
  expect((await agent.finish("New")).faults).toEqual([]);
  expect(await shopFiles(shop.directory)).toContain("new.txt");
});

test("checking out an older commit counts as a change", async () => {
  const shop = await harness.shop({ "README.md": "# Shop\n" });
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  write(root, "one.txt", "one\n");
  const { branches } = await agent.finish("One");
  await userGit(root, "reset", "--quiet", "--hard", "HEAD~1");
  expect(await agent.finish("Taken back")).toEqual({ branches, faults: [] });
  const branch = await agentBranch(shop.directory);
  expect(await shop.git("log", "--format=%s", `main..${branch}`)).toBe("Taken back\nOne");
  expect(await shopFiles(shop.directory)).toBe("README.md");
});

test("a link that replaces a repository is not followed", async () => {
  const [shop, other] = [await harness.shop(), await harness.shop()];
  const agent = await harness.agent([{ url: shop.url }, { url: other.url }]);
  const outside = await temporaryDirectory({ "secret.txt": "secret\n" });
  rmSync(join(agent.workspace.root, shop.name), { recursive: true });
  symlinkSync(outside.path, join(agent.workspace.root, shop.name));
  expect((await agent.finish("Link")).branches).toEqual([{ repoUrl: expect.stringContaining(other.name) }]);
  expect(await harness.diffs.read(agent.id, never())).toHaveLength(1);
  await outside.remove();
});

test("git that works on an agent's files can access no other files of the machine", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const [repository = expect.fail("no repository")] = agent.workspace.repositories;
  const outside = await temporaryDirectory({ "secret.txt": "secret\n" });
  symlinkSync(outside.path, join(repository.path, "way-out"));
  const read = async (path: string) =>
    (await askGit({ location: await workTreeLocation(repository), args: ["hash-object", "--no-filters", path] })).code;
  expect(await read("README.md")).toBe(0);
  expect(await read("way-out/secret.txt")).not.toBe(0);
  expect(await read(join(harness.data, "kek"))).not.toBe(0);
  await outside.remove();
});
