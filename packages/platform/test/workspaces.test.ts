import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { agentWork, type GitBench, gitBench, never } from "./git-bench.ts";
import { type HttpGitServer, serveDaemon, serveHttp } from "./git-servers.ts";

let bench: GitBench;
let server: HttpGitServer;

beforeEach(async () => {
  bench = await gitBench();
  server = await serveHttp(bench.served);
});

afterEach(async () => {
  await server.close();
  await bench.remove();
});

const run = promisify(execFile);
const gitIn = async (cwd: string, ...args: string[]) => (await run("git", args, { cwd })).stdout.trim();
const url = (name: string) => `${server.url}/${name}.git`;

test("an agent starts on a branch of its own at the tip of the usual branch", async () => {
  const repository = await bench.makeRepository("shop", { "README.md": "# Shop\n" });
  const work = agentWork({ repos: [{ url: url("shop") }] });
  const { root, repositories } = await bench.workspaces.open(work, never());
  const tip = (await repository.git("rev-parse", "main")).trim();
  expect(root).toBe(join(bench.data, "workspaces", work.agentId, "shop"));
  expect(repositories).toMatchObject([{ name: "shop", baseBranch: "main", baseCommit: tip }]);
  expect(repositories[0]?.branch).toMatch(/^platform\/fix-the-failing-test-[0-9a-f]{8}$/);
  expect(readFileSync(join(root, "README.md"), "utf8")).toBe("# Shop\n");
  expect(await gitIn(root, "status", "--porcelain")).toBe("");
  expect(await gitIn(root, "rev-parse", "HEAD", "origin/main")).toBe(`${tip}\n${tip}`);
  expect(await gitIn(root, "symbolic-ref", "--short", "HEAD")).toBe(repositories[0]?.branch);
});

test("a starting reference may be a branch, a tag or a commit, whole or abbreviated", async () => {
  const repository = await bench.makeRepository("shop");
  const first = (await repository.git("rev-parse", "main")).trim();
  const topic = await repository.commit("feature/topic", { "topic.txt": "topic\n" });
  await repository.commit("main", { "later.txt": "later\n" });
  await repository.git("-c", "user.name=T", "-c", "user.email=t@example.com", "tag", "-a", "-m", "One", "v1", first);
  const open = async (startingRef: string) =>
    (await bench.workspaces.open(agentWork({ repos: [{ url: url("shop"), startingRef }] }), never())).repositories[0];
  expect(await open("feature/topic")).toMatchObject({ baseCommit: topic, baseBranch: "feature/topic" });
  expect(await open("HEAD")).toMatchObject({ baseBranch: "main" });
  expect(await open("refs/heads/feature/topic")).toMatchObject({ baseCommit: topic, baseBranch: "feature/topic" });
  expect(await open("v1")).toMatchObject({ baseCommit: first, baseBranch: "main" });
  expect(await open(first)).toMatchObject({ baseCommit: first, baseBranch: "main" });
  expect(await open(first.slice(0, 8))).toMatchObject({ baseCommit: first, baseBranch: "main" });
});

test("a commit that no branch leads to is fetched by its name", async () => {
  const repository = await bench.makeRepository("shop");
  const lost = await repository.commit("away", { "lost.txt": "found\n" });
  await repository.git("update-ref", "-d", "refs/heads/away");
  const { root } = await bench.workspaces.open(
    agentWork({ repos: [{ url: url("shop"), startingRef: lost }] }),
    never(),
  );
  expect(readFileSync(join(root, "lost.txt"), "utf8")).toBe("found\n");
});

test("what the repository does not have is told as such", async () => {
  await bench.makeRepository("shop");
  const open = (startingRef: string) =>
    bench.workspaces.open(agentWork({ repos: [{ url: url("shop"), startingRef }] }), never());
  await expect(open("nowhere")).rejects.toMatchObject({ code: "ref_not_found", message: /"nowhere"/ });
  await expect(open("0".repeat(39).concat("1"))).rejects.toMatchObject({ code: "ref_not_found" });
  await expect(open("--upload-pack=touch")).rejects.toMatchObject({ code: "ref_not_found" });
});

test("an agent that works on the current branch is on that branch", async () => {
  const repository = await bench.makeRepository("shop");
  await repository.commit("topic", { "topic.txt": "topic\n" });
  const work = agentWork({ workOnCurrentBranch: true, repos: [{ url: url("shop"), startingRef: "topic" }] });
  const { root, repositories } = await bench.workspaces.open(work, never());
  expect(repositories).toMatchObject([{ branch: "topic", baseBranch: "main" }]);
  expect(await gitIn(root, "symbolic-ref", "--short", "HEAD")).toBe("topic");
  const detached = agentWork({ workOnCurrentBranch: true, repos: [{ url: url("shop"), startingRef: "a".repeat(40) }] });
  await expect(bench.workspaces.open(detached, never())).rejects.toMatchObject({ code: "ref_not_found" });
});

test("a pull request of a host that only speaks git is found by what the host offers", async () => {
  const repository = await bench.makeRepository("shop");
  const head = await repository.commit("topic", { "topic.txt": "topic\n" });
  await repository.git("update-ref", "refs/pull/7/head", head);
  const repos = [{ url: url("shop"), prUrl: `${server.url}/shop/pull/7` }];
  const onHead = await bench.workspaces.open(agentWork({ repos, workOnCurrentBranch: true }), never());
  expect(onHead.repositories).toMatchObject([{ branch: "topic", baseBranch: "main", baseCommit: head }]);
  const onBase = await bench.workspaces.open(agentWork({ repos }), never());
  expect(existsSync(join(onBase.root, "topic.txt"))).toBe(false);
  const unknown = agentWork({ repos: [{ url: url("shop"), prUrl: `${server.url}/shop/pull/8` }] });
  await expect(bench.workspaces.open(unknown, never())).rejects.toMatchObject({ code: "ref_not_found" });
});

test("several repositories lie side by side, also where two have one name", async () => {
  await bench.makeRepository("shop", { "a.txt": "a\n" });
  mkdirSync(join(bench.served, "other"));
  await bench.makeRepository("other/shop", { "b.txt": "b\n" });
  const work = agentWork({ repos: [{ url: url("shop") }, { url: url("other/shop") }] });
  const { root, repositories } = await bench.workspaces.open(work, never());
  expect(root).toBe(join(bench.data, "workspaces", work.agentId));
  expect(repositories.map(({ name }) => name)).toEqual(["shop", "shop-2"]);
  expect(readFileSync(join(root, "shop-2/b.txt"), "utf8")).toBe("b\n");
  expect((await bench.workspaces.find(work.agentId))?.root).toBe(root);
});

test("an agent without repositories has an empty one, and finds it again", async () => {
  const work = agentWork();
  const { root, repositories } = await bench.workspaces.open(work, never());
  expect(repositories).toEqual([]);
  expect(await gitIn(root, "rev-parse", "--show-toplevel")).toBe(root);
  writeFileSync(join(root, "notes.txt"), "kept\n");
  expect((await bench.workspaces.open(work, never())).root).toBe(root);
  expect(readFileSync(join(root, "notes.txt"), "utf8")).toBe("kept\n");
});

test("a follow-up finds its directory as it was left, without asking the repository", async () => {
  await bench.makeRepository("shop");
  const work = agentWork({ repos: [{ url: url("shop") }] });
  const opened = await bench.workspaces.open(work, never());
  writeFileSync(join(opened.root, "left.txt"), "left\n");
  const asked = server.asked.length;
  expect(await bench.workspaces.open(work, never())).toEqual(opened);
  expect(server.asked.length).toBe(asked);
  expect(readFileSync(join(opened.root, "left.txt"), "utf8")).toBe("left\n");
});

test("the second agent fetches the news only, and none where there is none", async () => {
  const repository = await bench.makeRepository("shop");
  const open = async () => bench.workspaces.open(agentWork({ repos: [{ url: url("shop") }] }), never());
  await open();
  const first = server.asked.length;
  await open();
  const unchanged = server.asked.length - first;
  expect(unchanged).toBeLessThan(first);
  await repository.commit("main", { "later.txt": "later\n" });
  const { root } = await open();
  expect(readFileSync(join(root, "later.txt"), "utf8")).toBe("later\n");
  expect(readdirSync(join(bench.data, "mirrors"))).toHaveLength(1);
});

test("branches that were rewritten or became directories are followed", async () => {
  const repository = await bench.makeRepository("shop");
  await repository.commit("topic", { "old.txt": "old\n" });
  const open = async (startingRef: string) =>
    bench.workspaces.open(agentWork({ repos: [{ url: url("shop"), startingRef }] }), never());
  await open("topic");
  await repository.git("update-ref", "-d", "refs/heads/topic");
  await repository.commit("topic/deeper", { "new.txt": "new\n" });
  const { root } = await open("topic/deeper");
  expect(existsSync(join(root, "old.txt"))).toBe(false);
  expect(await gitIn(root, "for-each-ref", "--format=%(refname:short)", "refs/remotes")).toBe(
    "origin/main\norigin/topic/deeper",
  );
});

test("teams do not share what was fetched", async () => {
  await bench.makeRepository("shop");
  for (const teamId of [1, 2])
    await bench.workspaces.open(agentWork({ teamId, repos: [{ url: url("shop") }] }), never());
  expect(readdirSync(join(bench.data, "mirrors"))).toHaveLength(2);
});

test("nothing in an agent's directory is shared with the mirror", async () => {
  await bench.makeRepository("shop");
  const { root } = await bench.workspaces.open(agentWork({ repos: [{ url: url("shop") }] }), never());
  const objects = join(root, ".git/objects");
  const files = readdirSync(objects, { recursive: true, encoding: "utf8" }).map((name) => join(objects, name));
  expect(files.some((file) => file.endsWith(".pack"))).toBe(true);
  expect(files.filter((file) => statSync(file).isFile() && statSync(file).nlink > 1)).toEqual([]);
  expect(existsSync(join(objects, "info/alternates"))).toBe(false);
  rmSync(join(bench.data, "mirrors"), { recursive: true });
  expect(await gitIn(root, "fsck", "--full")).toBe("");
});

test("nothing that a repository names runs when it is checked out", async () => {
  const mark = join(bench.served, "ran");
  const repository = await bench.makeRepository("shop", {
    ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
    "large.bin": "version https://git-lfs.github.com/spec/v1\n",
    ".gitmodules": `[submodule "sub"]\n\tpath = sub\n\turl = ext::sh -c touch% ${mark}\n`,
  });
  await repository.git("config", "filter.lfs.smudge", `touch ${mark}`);
  const { root } = await bench.workspaces.open(agentWork({ repos: [{ url: url("shop") }] }), never());
  expect(readFileSync(join(root, "large.bin"), "utf8")).toContain("git-lfs");
  expect(existsSync(mark)).toBe(false);
});

test("the branches' history of moves is not written down", async () => {
  await bench.makeRepository("shop");
  const { root } = await bench.workspaces.open(agentWork({ repos: [{ url: url("shop") }] }), never());
  writeFileSync(join(root, "new.txt"), "new\n");
  await gitIn(root, "add", "new.txt");
  await gitIn(root, "commit", "--quiet", "--message=New");
  expect(existsSync(join(root, ".git/logs"))).toBe(false);
  expect(await gitIn(root, "log", "-1", "--format=%an <%ae>")).toBe("Platform Agent <agent@platform.invalid>");
});

test("git's own protocol works too", async () => {
  await bench.makeRepository("shop");
  const daemon = await serveDaemon(bench.served);
  try {
    const { root } = await bench.workspaces.open(agentWork({ repos: [{ url: `${daemon.url}/shop.git` }] }), never());
    expect(existsSync(join(root, "README.md"))).toBe(true);
  } finally {
    await daemon.close();
  }
});

test("a removed agent leaves nothing", async () => {
  await bench.makeRepository("shop");
  const work = agentWork({ repos: [{ url: url("shop") }] });
  await bench.workspaces.open(work, never());
  await bench.workspaces.remove(work.agentId);
  expect(readdirSync(join(bench.data, "workspaces"))).toEqual([]);
  expect(readdirSync(join(bench.data, "handoffs"))).toEqual([]);
  expect(await bench.workspaces.find(work.agentId)).toBeUndefined();
});

test("what a killed server has left half made is made again", async () => {
  await bench.makeRepository("shop");
  const work = agentWork({ repos: [{ url: url("shop") }] });
  const { root, repositories } = await bench.workspaces.open(work, never());
  rmSync(root, { recursive: true });
  mkdirSync(join(bench.data, "workspaces", work.agentId, ".draft-old"));
  for (const name of readdirSync(join(bench.data, "mirrors"))) {
    mkdirSync(join(bench.data, "mirrors", `${name}.draft-old`));
    writeFileSync(join(bench.data, "mirrors", name, "objects/pack/tmp_pack_old"), "half");
  }
  const again = await bench.workspaces.open(work, never());
  expect(again.repositories).toEqual(repositories);
  expect(existsSync(join(root, "README.md"))).toBe(true);
});
