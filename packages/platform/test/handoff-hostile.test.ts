// Agents that write into git's own files, or leave them in whatever state: nothing of it runs or reaches out on the host.
import { execFile } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryDirectory } from "@agentcli/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askGit } from "../src/git/index.ts";
import { workPlace } from "../src/handoff/host-side.ts";
import { never } from "./git-bench.ts";
import { agentBranch, type HandoffBench, handoffBench, shopFiles, write } from "./handoff-bench.ts";
import { userGit } from "./host-bench.ts";

let bench: HandoffBench;

beforeAll(async () => {
  bench = await handoffBench();
});
afterAll(() => bench.close());

test("nothing that the agent wrote into git's files runs on the host", async () => {
  const shop = await bench.shop({ "README.md": "# Shop\n" });
  const agent = await bench.agent([{ url: shop.url }]);
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

test("a submodule whose settings ask for a look into it is not looked into", async () => {
  const shop = await bench.shop({ "README.md": "# Shop\n" });
  const commit = await shop.git("rev-parse", "main");
  const index = join(bench.data, "submodule.index");
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
  const agent = await bench.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  const mark = join(bench.data, "looked");
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

test("objects of another repository cannot be borrowed", async () => {
  const secret = await bench.shop({ "secret.txt": "words nobody else may read\n" });
  const secretTree = await secret.git("rev-parse", "main^{tree}");
  const shop = await bench.shop();
  for (const trick of ["alternates", "link"]) {
    const agent = await bench.agent([{ url: shop.url }]);
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

test("an agent that has lost its git directory still has its files handed off", async () => {
  const shop = await bench.shop();
  const agent = await bench.agent([{ url: shop.url }]);
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

test("an agent whose git directory was made anew can commit in it as before", async () => {
  const shop = await bench.shop();
  const agent = await bench.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  rmSync(join(root, ".git"), { recursive: true });
  write(root, "new.txt", "new\n");
  await agent.finish("New");
  expect(await userGit(root, "config", "user.email")).toBe("agent@platform.invalid");
});

test("an object that is not what its name says does not stop the hand-off", async () => {
  const shop = await bench.shop();
  const agent = await bench.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  write(root, "new.txt", "new\n");
  const name = await userGit(root, "hash-object", "new.txt");
  write(root, "other.txt", "other\n");
  const other = await userGit(root, "hash-object", "-w", "other.txt");
  const placeOf = (object: string) => join(root, ".git/objects", object.slice(0, 2), object.slice(2));
  mkdirSync(join(root, ".git/objects", name.slice(0, 2)), { recursive: true });
  copyFileSync(placeOf(other), placeOf(name));
  expect((await agent.finish("New")).faults).toEqual([]);
  expect(await shop.git("show", `${await agentBranch(shop.directory)}:new.txt`)).toBe("new");
  expect(await userGit(root, "status", "--porcelain")).toBe("");
});

test("a pipe in the place of git's own files is not waited for", async () => {
  const shop = await bench.shop();
  const agent = await bench.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  rmSync(join(root, ".git/HEAD"));
  await promisify(execFile)("mkfifo", [join(root, ".git/HEAD")]);
  write(root, "new.txt", "new\n");
  expect((await agent.finish("New")).faults).toEqual([]);
  expect(await shopFiles(shop.directory)).toContain("new.txt");
});

test("an agent that only went back to an older commit has made a change like any other", async () => {
  const shop = await bench.shop({ "README.md": "# Shop\n" });
  const agent = await bench.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  write(root, "one.txt", "one\n");
  const { branches } = await agent.finish("One");
  await userGit(root, "reset", "--quiet", "--hard", "HEAD~1");
  expect(await agent.finish("Taken back")).toEqual({ branches, faults: [] });
  const branch = await agentBranch(shop.directory);
  expect(await shop.git("log", "--format=%s", `main..${branch}`)).toBe("Taken back\nOne");
  expect(await shopFiles(shop.directory)).toBe("README.md");
});

test("a link in the place of a repository leads nowhere", async () => {
  const [shop, other] = [await bench.shop(), await bench.shop()];
  const agent = await bench.agent([{ url: shop.url }, { url: other.url }]);
  const outside = await temporaryDirectory({ "secret.txt": "secret\n" });
  rmSync(join(agent.workspace.root, shop.name), { recursive: true });
  symlinkSync(outside.path, join(agent.workspace.root, shop.name));
  expect((await agent.finish("Link")).branches).toEqual([{ repoUrl: expect.stringContaining(other.name) }]);
  expect(await bench.diffs.read(agent.id, never())).toHaveLength(1);
  await outside.remove();
});

test("git that works on an agent's files sees nothing else of the machine", async () => {
  const shop = await bench.shop();
  const agent = await bench.agent([{ url: shop.url }]);
  const [repository = expect.fail("no repository")] = agent.workspace.repositories;
  const outside = await temporaryDirectory({ "secret.txt": "secret\n" });
  symlinkSync(outside.path, join(repository.path, "way-out"));
  const read = async (path: string) =>
    (await askGit({ place: await workPlace(repository), args: ["hash-object", "--no-filters", path] })).code;
  expect(await read("README.md")).toBe(0);
  expect(await read("way-out/secret.txt")).not.toBe(0);
  expect(await read(join(bench.data, "kek"))).not.toBe(0);
  await outside.remove();
});
