import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { agentWork, type GitHarness, never, openGitHarness } from "./git-harness.ts";
import { type HttpGitServer, serveDaemon, serveHttp } from "./git-servers.ts";

let harness: GitHarness;
let server: HttpGitServer;

beforeEach(async () => {
  harness = await openGitHarness();
  server = await serveHttp(harness.served);
});

afterEach(async () => {
  await server.close();
  await harness.remove();
});

const run = promisify(execFile);
const gitIn = async (cwd: string, ...args: string[]) => (await run("git", args, { cwd })).stdout.trim();
const url = (name: string) => `${server.url}/${name}.git`;

test("an agent starts on a new branch at the tip of the default branch", async () => {
  const repository = await harness.makeRepository("shop", { "README.md": "# Shop\n" });
  const work = agentWork({ repos: [{ url: url("shop") }] });
  const { root, repositories } = await harness.workspaces.open(work, never());
  const tip = (await repository.git("rev-parse", "main")).trim();
  expect(root).toBe(join(harness.data, "workspaces", work.agentId, "shop"));
  expect(repositories).toMatchObject([{ name: "shop", baseBranch: "main", baseCommit: tip }]);
  expect(repositories[0]?.branch).toMatch(/^platform\/fix-the-failing-test-[0-9a-f]{8}$/);
  expect(readFileSync(join(root, "README.md"), "utf8")).toBe("# Shop\n");
  expect(await gitIn(root, "status", "--porcelain")).toBe("");
  expect(await gitIn(root, "rev-parse", "HEAD", "origin/main")).toBe(`${tip}\n${tip}`);
  expect(await gitIn(root, "symbolic-ref", "--short", "HEAD")).toBe(repositories[0]?.branch);
});

test("a starting reference may be a branch, a tag or a commit, full or abbreviated", async () => {
  const repository = await harness.makeRepository("shop");
  const first = (await repository.git("rev-parse", "main")).trim();
  const topic = await repository.commit("feature/topic", { "topic.txt": "topic\n" });
  await repository.commit("main", { "later.txt": "later\n" });
  await repository.git("-c", "user.name=T", "-c", "user.email=t@example.com", "tag", "-a", "-m", "One", "v1", first);
  const open = async (startingRef: string) =>
    (await harness.workspaces.open(agentWork({ repos: [{ url: url("shop"), startingRef }] }), never())).repositories[0];
  expect(await open("feature/topic")).toMatchObject({ baseCommit: topic, baseBranch: "feature/topic" });
  expect(await open("HEAD")).toMatchObject({ baseBranch: "main" });
  expect(await open("refs/heads/feature/topic")).toMatchObject({ baseCommit: topic, baseBranch: "feature/topic" });
  expect(await open("v1")).toMatchObject({ baseCommit: first, baseBranch: "main" });
  expect(await open(first)).toMatchObject({ baseCommit: first, baseBranch: "main" });
  expect(await open(first.slice(0, 8))).toMatchObject({ baseCommit: first, baseBranch: "main" });
});

test("a commit that is on no branch is fetched by its hash", async () => {
  const repository = await harness.makeRepository("shop");
  const lost = await repository.commit("away", { "lost.txt": "found\n" });
  await repository.git("update-ref", "-d", "refs/heads/away");
  const { root } = await harness.workspaces.open(
    agentWork({ repos: [{ url: url("shop"), startingRef: lost }] }),
    never(),
  );
  expect(readFileSync(join(root, "lost.txt"), "utf8")).toBe("found\n");
});

test("a reference that the repository does not have is reported", async () => {
  await harness.makeRepository("shop");
  const open = (startingRef: string) =>
    harness.workspaces.open(agentWork({ repos: [{ url: url("shop"), startingRef }] }), never());
  await expect(open("nowhere")).rejects.toMatchObject({ code: "ref_not_found", message: /"nowhere"/ });
  await expect(open("0".repeat(39).concat("1"))).rejects.toMatchObject({ code: "ref_not_found" });
  await expect(open("--upload-pack=touch")).rejects.toMatchObject({ code: "ref_not_found" });
});

test("an agent that works on the current branch is on that branch", async () => {
  const repository = await harness.makeRepository("shop");
  await repository.commit("topic", { "topic.txt": "topic\n" });
  const work = agentWork({ workOnCurrentBranch: true, repos: [{ url: url("shop"), startingRef: "topic" }] });
  const { root, repositories } = await harness.workspaces.open(work, never());
  expect(repositories).toMatchObject([{ branch: "topic", baseBranch: "main" }]);
  expect(await gitIn(root, "symbolic-ref", "--short", "HEAD")).toBe("topic");
  const detached = agentWork({ workOnCurrentBranch: true, repos: [{ url: url("shop"), startingRef: "a".repeat(40) }] });
  await expect(harness.workspaces.open(detached, never())).rejects.toMatchObject({ code: "ref_not_found" });
});

test("a pull request on a host without an API is found by its refs", async () => {
  const repository = await harness.makeRepository("shop");
  const head = await repository.commit("topic", { "topic.txt": "topic\n" });
  await repository.git("update-ref", "refs/pull/7/head", head);
  const repos = [{ url: url("shop"), prUrl: `${server.url}/shop/pull/7` }];
  const onHead = await harness.workspaces.open(agentWork({ repos, workOnCurrentBranch: true }), never());
  expect(onHead.repositories).toMatchObject([{ branch: "topic", baseBranch: "main", baseCommit: head }]);
  const onBase = await harness.workspaces.open(agentWork({ repos }), never());
  expect(existsSync(join(onBase.root, "topic.txt"))).toBe(false);
  const unknown = agentWork({ repos: [{ url: url("shop"), prUrl: `${server.url}/shop/pull/8` }] });
  await expect(harness.workspaces.open(unknown, never())).rejects.toMatchObject({ code: "ref_not_found" });
});

test("several repositories are checked out side by side, even two with the same name", async () => {
  await harness.makeRepository("shop", { "a.txt": "a\n" });
  mkdirSync(join(harness.served, "other"));
  await harness.makeRepository("other/shop", { "b.txt": "b\n" });
  const work = agentWork({ repos: [{ url: url("shop") }, { url: url("other/shop") }] });
  const { root, repositories } = await harness.workspaces.open(work, never());
  expect(root).toBe(join(harness.data, "workspaces", work.agentId));
  expect(repositories.map(({ name }) => name)).toEqual(["shop", "shop-2"]);
  expect(readFileSync(join(root, "shop-2/b.txt"), "utf8")).toBe("b\n");
  expect((await harness.workspaces.find(work.agentId))?.root).toBe(root);
});

test("an agent without repositories has an empty directory, and finds it again", async () => {
  const work = agentWork();
  const { root, repositories } = await harness.workspaces.open(work, never());
  expect(repositories).toEqual([]);
  expect(await gitIn(root, "rev-parse", "--show-toplevel")).toBe(root);
  writeFileSync(join(root, "notes.txt"), "kept\n");
  expect((await harness.workspaces.open(work, never())).root).toBe(root);
  expect(readFileSync(join(root, "notes.txt"), "utf8")).toBe("kept\n");
});

test("a follow-up finds its directory unchanged, without contacting the repository", async () => {
  await harness.makeRepository("shop");
  const work = agentWork({ repos: [{ url: url("shop") }] });
  const opened = await harness.workspaces.open(work, never());
  writeFileSync(join(opened.root, "left.txt"), "left\n");
  const asked = server.asked.length;
  expect(await harness.workspaces.open(work, never())).toEqual(opened);
  expect(server.asked.length).toBe(asked);
  expect(readFileSync(join(opened.root, "left.txt"), "utf8")).toBe("left\n");
});

test("the second agent fetches new objects only, and none if there are none", async () => {
  const repository = await harness.makeRepository("shop");
  const open = async () => harness.workspaces.open(agentWork({ repos: [{ url: url("shop") }] }), never());
  await open();
  const first = server.asked.length;
  await open();
  const unchanged = server.asked.length - first;
  expect(unchanged).toBeLessThan(first);
  await repository.commit("main", { "later.txt": "later\n" });
  const { root } = await open();
  expect(readFileSync(join(root, "later.txt"), "utf8")).toBe("later\n");
  expect(readdirSync(join(harness.data, "mirrors"))).toHaveLength(1);
});

test("rewritten branches and branches replaced by directories are fetched", async () => {
  const repository = await harness.makeRepository("shop");
  await repository.commit("topic", { "old.txt": "old\n" });
  const open = async (startingRef: string) =>
    harness.workspaces.open(agentWork({ repos: [{ url: url("shop"), startingRef }] }), never());
  await open("topic");
  await repository.git("update-ref", "-d", "refs/heads/topic");
  await repository.commit("topic/deeper", { "new.txt": "new\n" });
  const { root } = await open("topic/deeper");
  expect(existsSync(join(root, "old.txt"))).toBe(false);
  expect(await gitIn(root, "for-each-ref", "--format=%(refname:short)", "refs/remotes")).toBe(
    "origin/main\norigin/topic/deeper",
  );
});

test("teams do not share fetched objects", async () => {
  await harness.makeRepository("shop");
  for (const teamId of [1, 2])
    await harness.workspaces.open(agentWork({ teamId, repos: [{ url: url("shop") }] }), never());
  expect(readdirSync(join(harness.data, "mirrors"))).toHaveLength(2);
});

test("nothing in an agent's directory is shared with the mirror", async () => {
  await harness.makeRepository("shop");
  const { root } = await harness.workspaces.open(agentWork({ repos: [{ url: url("shop") }] }), never());
  const objects = join(root, ".git/objects");
  const files = readdirSync(objects, { recursive: true, encoding: "utf8" }).map((name) => join(objects, name));
  expect(files.some((file) => file.endsWith(".pack"))).toBe(true);
  expect(files.filter((file) => statSync(file).isFile() && statSync(file).nlink > 1)).toEqual([]);
  expect(existsSync(join(objects, "info/alternates"))).toBe(false);
  rmSync(join(harness.data, "mirrors"), { recursive: true });
  expect(await gitIn(root, "fsck", "--full")).toBe("");
});

test("nothing that a repository configures is executed on checkout", async () => {
  const mark = join(harness.served, "ran");
  const repository = await harness.makeRepository("shop", {
    ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
    "large.bin": "version https://git-lfs.github.com/spec/v1\n",
    ".gitmodules": `[submodule "sub"]\n\tpath = sub\n\turl = ext::sh -c touch% ${mark}\n`,
  });
  await repository.git("config", "filter.lfs.smudge", `touch ${mark}`);
  const { root } = await harness.workspaces.open(agentWork({ repos: [{ url: url("shop") }] }), never());
  expect(readFileSync(join(root, "large.bin"), "utf8")).toContain("git-lfs");
  expect(existsSync(mark)).toBe(false);
});

test("no reflog of branches is written", async () => {
  await harness.makeRepository("shop");
  const { root } = await harness.workspaces.open(agentWork({ repos: [{ url: url("shop") }] }), never());
  writeFileSync(join(root, "new.txt"), "new\n");
  await gitIn(root, "add", "new.txt");
  await gitIn(root, "commit", "--quiet", "--message=New");
  expect(existsSync(join(root, ".git/logs"))).toBe(false);
  expect(await gitIn(root, "log", "-1", "--format=%an <%ae>")).toBe("Platform Agent <agent@platform.invalid>");
});

test("the git protocol works too", async () => {
  await harness.makeRepository("shop");
  const daemon = await serveDaemon(harness.served);
  try {
    const { root } = await harness.workspaces.open(agentWork({ repos: [{ url: `${daemon.url}/shop.git` }] }), never());
    expect(existsSync(join(root, "README.md"))).toBe(true);
  } finally {
    await daemon.close();
  }
});

test("a removed agent leaves nothing", async () => {
  await harness.makeRepository("shop");
  const work = agentWork({ repos: [{ url: url("shop") }] });
  await harness.workspaces.open(work, never());
  await harness.workspaces.remove(work.agentId);
  expect(readdirSync(join(harness.data, "workspaces"))).toEqual([]);
  expect(readdirSync(join(harness.data, "handoffs"))).toEqual([]);
  expect(await harness.workspaces.find(work.agentId)).toBeUndefined();
});

test("a directory left incomplete by a killed server is created again", async () => {
  await harness.makeRepository("shop");
  const work = agentWork({ repos: [{ url: url("shop") }] });
  const { root, repositories } = await harness.workspaces.open(work, never());
  rmSync(root, { recursive: true });
  mkdirSync(join(harness.data, "workspaces", work.agentId, ".draft-old"));
  for (const name of readdirSync(join(harness.data, "mirrors"))) {
    mkdirSync(join(harness.data, "mirrors", `${name}.draft-old`));
    writeFileSync(join(harness.data, "mirrors", name, "objects/pack/tmp_pack_old"), "half");
  }
  const again = await harness.workspaces.open(work, never());
  expect(again.repositories).toEqual(repositories);
  expect(existsSync(join(root, "README.md"))).toBe(true);
});
