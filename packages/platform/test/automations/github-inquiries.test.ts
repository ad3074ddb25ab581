// What the platform asks GitHub about events: changed paths, forks, rights of people who mention it, logs of failed checks.
import type { Tool } from "@agentcli/engine";
import type { FakeGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, expect, test } from "vitest";
import { entryAad } from "../../src/automations/subscriptions/store.ts";
import { pullRequestTools } from "../../src/automations/tools/pull-request-tools.ts";
import { reviewerTool } from "../../src/automations/tools/reviewer-tool.ts";
import { teamKey } from "../../src/foundation/vault/index.ts";
import { openScenes, pullOf, type Scenes, statuses, trigger } from "./github-scene.ts";

let fake: FakeGithub;
let scene: Scenes["scene"];

beforeAll(async () => {
  ({ fake, scene } = await openScenes());
});
afterAll(() => fake.close());

test("paths of a push that the delivery does not name are asked for once, and decide", async () => {
  const opened = await scene();
  const { deliver, commit, shop } = opened;
  const automation = await opened.create(trigger(opened, "push", { paths: ["src/**"] }));
  const before = await shop.git("rev-parse", "main");
  const push = async (branch: string, file: string) =>
    deliver("push", { ref: `refs/heads/${branch}`, before, after: await commit(branch, file) });
  fake.requests.length = 0;
  await push("one", "docs/a.md");
  expect(await statuses(opened, automation)).toEqual([]);
  await push("two", "src/a.ts");
  expect(await statuses(opened, automation)).toEqual(["planned"]);
  const asked = fake.requests.filter(({ operation }) => operation === "repos/compare-commits-with-basehead");
  expect(asked).toHaveLength(2);
  await deliver("push", { ref: "refs/heads/one", before, after: "9".repeat(40) });
  expect((await statuses(opened, automation)).join()).toMatch(/It is not known which paths it changes.*could not read/);
  expect(fake.violations).toEqual([]);
});

test("a delivery that names its paths, and one that no trigger with paths wants, ask nothing", async () => {
  const opened = await scene();
  const automation = await opened.create(trigger(opened, "push", { paths: ["src/**"], branches: ["main"] }));
  fake.requests.length = 0;
  const commits = [{ added: ["src/a.ts"], modified: [], removed: [] }];
  const range = { before: "1".repeat(40), after: "2".repeat(40) };
  await opened.deliver("push", { ref: "refs/heads/main", ...range, commits });
  await opened.deliver("push", { ref: "refs/heads/topic", ...range });
  expect(await statuses(opened, automation)).toEqual(["planned"]);
  expect(fake.requests).toEqual([]);
});

test("paths of a pull request are asked for, and so is whether a commented one is of a fork", async () => {
  const opened = await scene();
  const { commit, deliver, shop, url } = opened;
  const automation = await opened.create(trigger(opened, "pull_request.comment", { paths: ["src/**"] }));
  await commit("code", "src/a.ts");
  await commit("text", "docs/a.md");
  const comment = async (head: string, more: object = {}) => {
    const { number } = pullOf(opened, head, more);
    await deliver("issue_comment", {
      ...{ action: "created", comment: { body: "please" }, sender: { login: "ada", id: 1, type: "User" } },
      issue: { number, html_url: `${url}/pull/${number}`, pull_request: {} },
    });
  };
  await comment("text");
  await comment("code");
  await comment("code", { isFork: true });
  expect(await statuses(opened, automation)).toEqual([
    "Fork pull requests not supported: they can be opened by anyone.",
    "planned",
  ]);
  expect(shop.pulls).toHaveLength(3);
  expect(fake.violations).toEqual([]);
});

test.each<
  [
    string,
    { login: string; permission?: "write" | "read"; isFork?: boolean; type?: string; connected?: boolean },
    string,
  ]
>([
  ["a person with rights and a connected account", { login: "ada", permission: "write" }, "planned"],
  ["a person who may only read", { login: "ada", permission: "read" }, "ada may not push to"],
  [
    "a person without a connected account",
    { login: "ada", permission: "write", connected: false },
    "has not connected an account as a member of the team",
  ],
  ["a stranger", { login: "mallory" }, "mallory may not push to"],
  ["a pull request of a fork", { login: "ada", permission: "write", isFork: true }, "Fork pull requests not supported"],
  ["another program", { login: "ci[bot]", permission: "write", type: "Bot" }, "nothing"],
])("a mention by %s", async (_, { login, permission, isFork = false, type = "User", connected = true }, expected) => {
  const opened = await scene();
  const { commit, deliver, url, shop, fixture } = opened;
  const { db } = fixture.platform;
  const account = { login: "ada", host: new URL(url).host, account_id: "17", user_id: 1 };
  if (connected) await db.insertInto("source_accounts").values(account).execute();
  const permissions = { [`${shop.owner}/${shop.name}`]: permission ?? ("read" as const) };
  fake.accounts.splice(0, fake.accounts.length, { login, type: "User", permissions });
  await commit("topic", "src/a.ts");
  const { number } = pullOf(opened, "topic", { isFork });
  await deliver("issue_comment", {
    ...{ action: "created", comment: { body: "@platform fix it", author_association: "OWNER" } },
    ...{ sender: { login, id: 17, type } },
    issue: { number, html_url: `${url}/pull/${number}`, pull_request: {} },
  });
  const mentions = await db.selectFrom("mentions").select(["status", "reason"]).execute();
  expect(mentions.map(({ status, reason }) => reason ?? status).join() || "nothing").toContain(expected);
  expect(fake.violations).toEqual([]);
});

test("the end of the logs of failed jobs comes with a failed workflow, and the summary with the check of another app", async () => {
  const opened = await scene();
  const { deliver, shop, url, fixture } = opened;
  const { db } = fixture.platform;
  fake.grantApp({ contents: "write", pull_requests: "write", metadata: "read", checks: "write", actions: "read" });
  const { agentId, runId } = await fixture.newAgent();
  const pushed = "1".repeat(40);
  const about = { agent_id: agentId, run_id: runId, repo_url: url.replace("http://", ""), pr_url: `${url}/pull/1` };
  const base = { base_branch: "main", base_commit: "0".repeat(40), state: "done" as const, pushed_commit: pushed };
  await db
    .insertInto("handoffs")
    .values({ ...about, ...base, branch: "agents/fix" })
    .execute();
  const log = `2026-03-02T08:00:00.0000000Z ${"x".repeat(200_000)}\n2026-03-02T08:00:01.0000000Z \u001b[31mexpected 2\u001b[0m\n`;
  const job = { run: 5, conclusion: "failure", app: "github-actions", log: "", summary: "" };
  shop.jobs.push({ ...job, id: 11, name: "unit", log }, { ...job, id: 12, name: "lint", conclusion: "success" });
  shop.jobs.push({ ...job, id: 13, run: 6, name: "scan", app: "scanner", summary: "2 leaks" });
  const checked = { head_sha: pushed, head_branch: "agents/fix", conclusion: "failure", pull_requests: [] };
  await deliver("workflow_run", { action: "completed", workflow_run: { ...checked, id: 5, name: "ci" } });
  await deliver("check_suite", { action: "completed", check_suite: { ...checked, id: 6, app: { id: 9 } } });
  const key = await teamKey(db, fixture.platform.vault, fixture.principal.teamId);
  const rows = await db.selectFrom("subscription_events").selectAll().execute();
  const logs = rows.map(
    ({ subscription_id, event_id, entry }) =>
      JSON.parse(key.openText(entry, entryAad(subscription_id, event_id))).log as string,
  );
  expect(logs.find((text) => text.startsWith("== unit\n"))).toMatch(/x\nexpected 2\n$/);
  expect(logs.find((text) => text.startsWith("== scan\n"))).toContain("2 leaks");
  expect(logs.join().length).toBeLessThan(8_000);
  expect(fake.violations).toEqual([]);
});

test("reviewers are picked from the history of what a pull request changes, asked for, and told why; reviews are dismissed", async () => {
  const { commit, shop, url, host, fixture, ...rest } = await scene();
  await commit("main", "src/a.ts");
  await commit("topic", "src/a.ts");
  const { number } = pullOf({ commit, shop, url, host, fixture, ...rest }, "topic", {
    author: "platform-app[bot]",
    reviews: [{ event: "REQUEST_CHANGES", body: "no", author: "bob", comments: [] }],
  });
  const { inquiries, pullRequests } = await host.sources.open(fixture.principal.teamId, url);
  const options = {
    ...{ open: async () => pullRequests, inquiries: async () => inquiries, author: "agent:bc-1" },
    ...{ urlOf: (one: number) => `${url}/pull/${one}`, scrub: (text: string) => text },
  };
  const run = async (tool: Tool, args: object) => {
    const signal = new AbortController().signal;
    return (await tool.run(args, { signal } as Parameters<Tool["run"]>[1])).parts;
  };
  expect(await run(reviewerTool(options), { number })).toEqual([{ type: "text", text: "Requested reviews of ada." }]);
  const [pull] = shop.pulls;
  expect(pull?.requests).toEqual([["ada"]]);
  expect(pull?.comments[0]?.body).toMatch(/^Requested reviews:\n- ada: wrote 1 of the latest commits of src\/a\.ts\n/);
  const dismiss = pullRequestTools({ ...options, approvals: "others", isOwn: async () => false }).at(-1);
  const args = { number, reviewer: "bob", message: "It is fixed." };
  expect(dismiss && (await run(dismiss, args))).toMatchObject([{ text: "Dismissed 1 of bob on pull request 1." }]);
  expect(pull?.reviews).toMatchObject([{ event: "DISMISSED", body: "It is fixed.\n\n<!-- agent:bc-1 -->" }]);
  expect(fake.violations).toEqual([]);
});
