// The diff of an agent, at every stage of its work.
import { chmodSync, mkdirSync, readdirSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryRepository } from "@agentcli/testkit";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { never } from "../repositories/git-harness.ts";
import { userGit } from "../repositories/git-host-harness.ts";
import { type HandoffHarness, openHandoffHarness } from "../repositories/handoff-harness.ts";

let harness: HandoffHarness;

beforeAll(async () => {
  harness = await openHandoffHarness();
});
afterAll(() => harness.close());

const read = (agentId: string) => harness.diffs.read(agentId, never());

const filesOfLastRun = async (agentId: string) =>
  (await harness.diffs.readLastRun(agentId, never())).flatMap(({ patch }) =>
    [...String(patch).matchAll(/^diff --git a\/\S+ b\/(\S+)$/gm)].map(([, name]) => name),
  );

test("before the first run has ended it contains the working tree, and computing it leaves nothing behind", async () => {
  const shop = await harness.shop({ "README.md": "# Shop\n", ".gitignore": "*.log\n" });
  const agent = await harness.agent([{ url: shop.url }]);
  const [{ hostDirectory, path, branch, baseCommit } = expect.fail("no repository")] = agent.workspace.repositories;
  expect(await read(agent.id)).toMatchObject([{ branch, baseBranch: "main", baseCommit, patch: Buffer.alloc(0) }]);
  writeFileSync(join(path, "README.md"), "# Better shop\n");
  writeFileSync(join(path, "noise.log"), "ignored\n");
  await userGit(path, "commit", "--quiet", "--all", "--message=By the agent");
  writeFileSync(join(path, "new.txt"), "new\n");
  const before = readdirSync(hostDirectory, { recursive: true }).sort();
  const [change] = await read(agent.id);
  expect(change?.repoUrl).toBe(shop.url.replace("http://", "").replace(".git", ""));
  const patch = String(change?.patch);
  expect(patch).toContain("+# Better shop");
  expect(patch).toContain("b/new.txt");
  expect(patch).not.toContain("noise");
  expect(readdirSync(hostDirectory, { recursive: true }).sort()).toEqual(before);
});

test("it is the same patch before and after hand-off, and applies to the base", async () => {
  const shop = await harness.shop({ "a.txt": "a\n", "b.txt": "b\n", "run.sh": "echo\n", "latin.txt": "x\n" });
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  writeFileSync(join(root, "latin.txt"), Buffer.from([0xe4, 0xf6, 0x0a]));
  writeFileSync(join(root, "picture.bin"), Buffer.from([0, 1, 2, 0xff]));
  mkdirSync(join(root, "deep"));
  writeFileSync(join(root, "deep/ü name.txt"), "no end of line");
  symlinkSync("a.txt", join(root, "link"));
  chmodSync(join(root, "run.sh"), 0o755);
  unlinkSync(join(root, "b.txt"));
  const [before] = await read(agent.id);
  await agent.finish("All kinds of changes");
  const [after] = await read(agent.id);
  expect(after?.patch.equals(before?.patch ?? Buffer.alloc(0))).toBe(true);
  const copy = await temporaryRepository({});
  onTestFinished(copy.remove);
  const patchFile = join(copy.path, "..", `${agent.id}.patch`);
  writeFileSync(patchFile, after?.patch ?? "");
  onTestFinished(() => unlinkSync(patchFile));
  await userGit(copy.path, "fetch", "--quiet", shop.directory, "main");
  await userGit(copy.path, "checkout", "--quiet", "FETCH_HEAD");
  await userGit(copy.path, "apply", "--index", patchFile);
  const branch = after?.branch ?? "";
  expect(await userGit(copy.path, "write-tree")).toBe(await shop.git("rev-parse", `${branch}^{tree}`));
});

test("it contains changes of a follow-up that were not handed off, on top of pushed ones", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  writeFileSync(join(root, "first.txt"), "first\n");
  await agent.finish("First");
  await agent.end("Cancelled");
  writeFileSync(join(root, "second.txt"), "second\n");
  const patch = String((await read(agent.id))[0]?.patch);
  expect(patch).toContain("b/first.txt");
  expect(patch).toContain("b/second.txt");
});

test("each repository has its own diff, and an agent without repositories has none", async () => {
  const [one, two] = [await harness.shop(), await harness.shop()];
  const agent = await harness.agent([{ url: one.url }, { url: two.url }]);
  const second = agent.workspace.repositories.find(({ url }) => url === two.url);
  writeFileSync(join(second?.path ?? "", "here.txt"), "here\n");
  const changes = await read(agent.id);
  expect(changes.map(({ repoUrl, patch }) => [repoUrl.includes(two.name), patch.length > 0]).sort()).toEqual([
    [false, false],
    [true, true],
  ]);
  expect(await read((await harness.agent([])).id)).toEqual([]);
});

test("the changes of the last run alone do not have those of the runs before, finished or not", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  const filesOfRun = () => filesOfLastRun(agent.id);
  expect(await filesOfRun()).toEqual([]);
  await agent.begin();
  writeFileSync(join(root, "first.txt"), "first\n");
  expect(await filesOfRun()).toEqual(["first.txt"]);
  await agent.finish("First");
  expect(await filesOfRun()).toEqual(["first.txt"]);
  await agent.begin();
  expect(await filesOfRun()).toEqual([]);
  writeFileSync(join(root, "second.txt"), "second\n");
  await agent.end("Cancelled");
  expect(await filesOfRun()).toEqual(["second.txt"]);
  await agent.begin();
  writeFileSync(join(root, "second.txt"), "second\nthird\n");
  unlinkSync(join(root, "first.txt"));
  await agent.finish("Third");
  expect(await filesOfRun()).toEqual(["first.txt", "second.txt"]);
  const [change] = await harness.diffs.readLastRun(agent.id, never());
  expect(String(change?.patch)).toContain(" second\n+third\n");
  expect((await read(agent.id)).map(({ patch }) => String(patch).includes("first.txt"))).toEqual([false]);
});

test("where the start of the last run was not kept, or lost with the power, its changes are those since the last push", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const { root, repositories } = agent.workspace;
  const filesOfRun = () => filesOfLastRun(agent.id);
  writeFileSync(join(root, "first.txt"), "first\n");
  await agent.finish("First");
  writeFileSync(join(root, "second.txt"), "second\n");
  await agent.finish("Second");
  expect(await filesOfRun()).toEqual(["second.txt"]);
  writeFileSync(join(repositories[0]?.hostDirectory ?? "", "run-start.json"), "");
  expect(await filesOfRun()).toEqual(["second.txt"]);
});
