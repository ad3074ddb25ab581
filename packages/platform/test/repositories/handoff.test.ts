// The changes of a run become a commit, a branch and a draft pull request; follow-ups update them.
import { existsSync, readFileSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { userGit } from "./git-host-harness.ts";
import { agentBranch, type HandoffHarness, openHandoffHarness, shopFiles, write } from "./handoff-harness.ts";

let harness: HandoffHarness;

beforeAll(async () => {
  harness = await openHandoffHarness();
});
afterAll(() => harness.close());

test("the changes of a run become one commit on an agent branch and a draft pull request", async () => {
  const shop = await harness.shop({ "README.md": "# Shop\n", "old.txt": "old\n", ".gitignore": "*.log\n" });
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  write(root, "new.txt", "new\n");
  write(root, "README.md", "# Better shop\n");
  write(root, "noise.log", "ignored\n");
  unlinkSync(join(root, "old.txt"));
  const done = await agent.finish("Made the shop better.\n\nIt was not good.");
  const branch = await agentBranch(shop.directory);
  const prUrl = `${harness.url}/git/${shop.name}/pulls/1`;
  expect(branch).toMatch(/^platform\/fix-the-failing-test-[0-9a-f]{8}$/);
  expect(done).toEqual({
    branches: [{ repoUrl: shop.url.replace("http://", "").replace(".git", ""), branch, prUrl }],
    faults: [],
  });
  expect(await shop.git("diff", "--name-status", `main...${branch}`)).toBe("M\tREADME.md\nA\tnew.txt\nD\told.txt");
  expect(await shop.git("log", "-1", "--format=%an <%ae> %cI%n%B", branch)).toBe(
    "Platform Agent <agent@platform.invalid> 2026-01-02T03:04:05+00:00\nMade the shop better.\n\nIt was not good.\n\nCo-authored-by: Ada <ada@example.com>",
  );
  expect((await harness.ask("GET", `/git/${shop.name}/pulls/1`)).body).toMatchObject({
    title: "Made the shop better.",
    body: expect.stringMatching(/^Made the shop better\.\n\nIt was not good\.\n\n## Verified\n/),
    draft: true,
    base: "main",
    state: "open",
  });
  expect(await userGit(root, "status", "--porcelain")).toBe("");
  expect(await userGit(root, "rev-parse", "HEAD")).toBe(await shop.git("rev-parse", branch));
  expect(existsSync(join(root, ".git/COMMIT_EDITMSG"))).toBe(false);
});

test("commits of the agent are kept, and its uncommitted changes are added on top", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  write(root, "first.txt", "first\n");
  await userGit(root, "add", "first.txt");
  await userGit(root, "commit", "--quiet", "--message=By the agent");
  write(root, "second.txt", "second\n");
  await agent.finish("Second");
  const branch = await agentBranch(shop.directory);
  expect(await shop.git("log", "--format=%s", `main..${branch}`)).toBe("Second\nBy the agent");
  expect(await userGit(root, "fsck", "--full")).toBe("");
});

test("a run without changes creates no branch and no pull request", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const done = await agent.finish("It is fine as it is.");
  expect(done.branches).toEqual([{ repoUrl: expect.any(String) }]);
  expect(await agentBranch(shop.directory)).toBe("");
  expect((await harness.ask("GET", `/git/${shop.name}/pulls`)).body).toEqual({ items: [] });
});

test("an agent without repositories hands off nothing", async () => {
  const agent = await harness.agent([]);
  write(agent.workspace.root, "notes.txt", "notes\n");
  expect(await agent.finish("Notes")).toEqual({ branches: [], faults: [] });
});

test("a repeated call changes nothing", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  write(agent.workspace.root, "new.txt", "new\n");
  const first = await agent.finish("New");
  const tip = await shop.git("rev-parse", await agentBranch(shop.directory));
  expect(await agent.again()).toEqual(first);
  for (const state of ["waiting", "committed", "pushed", "opened", "failed"] as const) {
    await harness.db.updateTable("handoffs").set({ state }).where("agent_id", "=", agent.id).execute();
    expect(await agent.again(), state).toEqual(first);
  }
  expect(await shop.git("rev-parse", await agentBranch(shop.directory))).toBe(tip);
  expect((await harness.ask("GET", `/git/${shop.name}/pulls`)).body).toMatchObject({ items: [{ number: 1 }] });
});

test("follow-ups update the same branch and pull request", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  write(agent.workspace.root, "one.txt", "one\n");
  const first = await agent.finish("One");
  write(agent.workspace.root, "two.txt", "two\n");
  expect(await agent.finish("Two")).toEqual(first);
  expect(await shop.git("log", "--format=%s", `main..${await agentBranch(shop.directory)}`)).toBe("Two\nOne");
  expect((await harness.ask("GET", `/git/${shop.name}/pulls`)).body).toMatchObject({
    items: [{ number: 1, body: expect.stringMatching(/^One\n\n---\n\nTwo\n\n(?:.*\n)*- \w+ One\n- \w+ Two$/) }],
  });
  await harness.ask("PATCH", `/git/${shop.name}/pulls/1`, { body: "Mine" });
  write(agent.workspace.root, "three.txt", "three\n");
  await agent.finish("Three");
  expect((await harness.ask("GET", `/git/${shop.name}/pulls/1`)).body).toMatchObject({ body: "Mine" });
});

test("a commit on the embedded host waits for no check, and its pull request is done", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  write(agent.workspace.root, "one.txt", "one\n");
  const { runId } = await agent.end("One");
  await agent.again();
  const branch = await agentBranch(shop.directory);
  const first = await shop.git("rev-parse", branch);
  const checks = () =>
    harness.db.selectFrom("handoff_checks").select(["commit_name", "state"]).where("run_id", "=", runId).execute();
  expect(await checks()).toEqual([{ commit_name: first, state: "ended" }]);
  await agent.again();
  expect(await checks()).toEqual([{ commit_name: first, state: "ended" }]);
  const row = harness.db
    .selectFrom("handoffs")
    .select(["state", "pr_url", "announced_pr_url"])
    .where("run_id", "=", runId);
  const prUrl = `${harness.url}/git/${shop.name}/pulls/1`;
  expect(await row.execute()).toEqual([{ state: "done", pr_url: prUrl, announced_pr_url: prUrl }]);
});

test("a follow-up without changes does not reopen a closed pull request", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  write(agent.workspace.root, "one.txt", "one\n");
  const first = await agent.finish("One");
  await harness.ask("PATCH", `/git/${shop.name}/pulls/1`, { state: "closed" });
  expect(await agent.finish("An explanation")).toEqual(first);
  expect((await harness.ask("GET", `/git/${shop.name}/pulls`)).body).toMatchObject({
    items: [{ number: 1, state: "closed" }],
  });
  write(agent.workspace.root, "two.txt", "two\n");
  await agent.finish("Two");
  expect((await harness.ask("GET", `/git/${shop.name}/pulls`)).body).toMatchObject({
    items: [{ number: 2 }, { number: 1 }],
  });
});

test("without autoCreatePR there is a branch and no pull request", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  write(agent.workspace.root, "one.txt", "one\n");
  const done = await agent.finish("One", { autoCreatePR: false });
  expect(done.branches).toEqual([{ repoUrl: expect.any(String), branch: await agentBranch(shop.directory) }]);
});

test("work on the current branch is pushed to that branch", async () => {
  const shop = await harness.shop();
  await shop.git("branch", "topic", "main");
  const agent = await harness.agent([{ url: shop.url, startingRef: "topic" }], { workOnCurrentBranch: true });
  write(agent.workspace.root, "one.txt", "one\n");
  const done = await agent.finish("One");
  expect(done).toMatchObject({ branches: [{ branch: "topic", prUrl: expect.stringContaining("/pulls/1") }] });
  expect(await shop.git("show", "topic:one.txt")).toBe("one");
  expect(await agentBranch(shop.directory)).toBe("");
});

test("an agent that is given a pull request works on its head branch and reports it", async () => {
  const shop = await harness.shop();
  const first = await harness.agent([{ url: shop.url }]);
  write(first.workspace.root, "one.txt", "one\n");
  const prUrl = (await first.finish("One")).branches[0]?.prUrl;
  const second = await harness.agent([{ url: shop.url, prUrl }], { workOnCurrentBranch: true });
  expect(readFileSync(join(second.workspace.root, "one.txt"), "utf8")).toBe("one\n");
  write(second.workspace.root, "two.txt", "two\n");
  expect((await second.finish("Two", { autoCreatePR: false })).branches[0]?.prUrl).toBe(prUrl);
  const third = await harness.agent([{ url: shop.url, prUrl }]);
  expect(existsSync(join(third.workspace.root, "one.txt"))).toBe(false);
});

test("several repositories are handed off separately", async () => {
  const [one, two] = [await harness.shop(), await harness.shop()];
  const agent = await harness.agent([{ url: one.url }, { url: two.url }]);
  write(join(agent.workspace.root, two.name), "new.txt", "new\n");
  const done = await agent.finish("New");
  expect(await agentBranch(one.directory)).toBe("");
  expect(done.branches.filter(({ prUrl }) => prUrl !== undefined)).toHaveLength(1);
  expect(await shopFiles(two.directory)).toContain("new.txt");
});
