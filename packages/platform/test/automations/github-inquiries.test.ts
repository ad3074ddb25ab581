// What the platform asks GitHub about events: changed paths, forks, rights of people who mention it, logs of failed checks.
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Tool } from "@agentcli/engine";
import { temporaryDirectory } from "@agentcli/testkit";
import { type FakeGithub, type FakeRepository, startGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { storeDelivery } from "../../src/automations/inbound/deliveries.ts";
import { processEvents } from "../../src/automations/inbound/process.ts";
import { reconcile } from "../../src/automations/inbound/reconcile.ts";
import { insertSource } from "../../src/automations/inbound/store.ts";
import { entryAad } from "../../src/automations/subscriptions/store.ts";
import { pullRequestTools } from "../../src/automations/tools/pull-request-tools.ts";
import { reviewerTool } from "../../src/automations/tools/reviewer-tool.ts";
import { teamKey } from "../../src/foundation/vault/index.ts";
import { githubDescription } from "../repositories/github-description.ts";
import { githubSettings } from "../repositories/github-settings.ts";
import { type AutomationHarness, openAutomationHarness } from "./automation-harness.ts";

let fake: FakeGithub;
let github: Awaited<ReturnType<typeof githubSettings>>;

beforeAll(async () => {
  fake = await startGithub({ description: githubDescription() });
  github = await githubSettings(fake);
});
afterAll(() => fake.close());

/** As the fake begins. */
const appPermissions = { contents: "write", pull_requests: "write", metadata: "read", checks: "write" };
let count = 0;

interface Scene extends AutomationHarness {
  /** The address for events. */
  hookUrl: string;
  shop: FakeRepository;
  url: string;
  deliver(name: string, payload: object): Promise<void>;
  /** A branch with a commit that changes this file; its commit. */
  commit(branch: string, file: string): Promise<string>;
}

async function scene(): Promise<Scene> {
  count += 1;
  const name = `acme/asked-${count}`;
  const shop = await fake.addRepository(name, { files: { "a.txt": "a\n" }, collaborators: ["ada"] });
  const url = `${fake.url}/${name}`;
  const harness = await openAutomationHarness("2026-03-02T08:00:00Z", {
    sourceHosts: { blocked: [], protected: [], github },
  });
  const { platform, principal } = harness.fixture;
  const key = await teamKey(platform.db, platform.vault, principal.teamId);
  const { source } = await insertSource(platform.db, { teamId: principal.teamId, name: "shop", key });
  return {
    ...{ ...harness, shop, url, hookUrl: `http://127.0.0.1:1/events/github/${source.id}` },
    async deliver(event, payload) {
      const repository = { id: shop.id, html_url: url, default_branch: "main" };
      const body = Buffer.from(JSON.stringify({ repository, ...payload }));
      await storeDelivery(platform.db, { source, deliveryId: randomUUID(), name: event, key, body }, null);
      await processEvents(harness.host);
    },
    commit: (branch, file) => commitFile(shop, branch, file),
  };
}

async function commitFile({ directory }: FakeRepository, branch: string, file: string): Promise<string> {
  const home = await temporaryDirectory();
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", home.path, "-c", "user.name=ada", "-c", "user.email=a@b.c", ...args])
      .toString()
      .trim();
  git("clone", "--quiet", directory, ".");
  git("checkout", "--quiet", "-B", branch);
  mkdirSync(dirname(join(home.path, file)), { recursive: true });
  writeFileSync(join(home.path, file), `${file} ${branch}\n`);
  git("add", ".");
  git("commit", "--quiet", "-m", file);
  git("push", "--quiet", "--force", "origin", branch);
  const commit = git("rev-parse", "HEAD");
  await home.remove();
  return commit;
}

async function addressOfAnotherTeam({ db, vault, principals }: Scene["fixture"]["platform"]): Promise<string> {
  const owner = { kind: "user", email: "eve@example.com" } as const;
  const { id } = await principals.createKey({ name: "k", team: "others", owner, scopes: null, expiresAt: null });
  const { teamId } = (await principals.find(id)) ?? expect.fail("no user");
  const { source } = await insertSource(db, { teamId, name: "others", key: await teamKey(db, vault, teamId) });
  return `http://127.0.0.1:1/events/github/${source.id}`;
}

const trigger = ({ url }: Scene, event: string, more: object = {}) => ({
  triggers: [{ type: "github", event, repos: [url], ...more }],
  target: { type: "none" },
});

const statuses = async ({ firings }: Scene, automation: { id: string }) =>
  (await firings(automation)).map(({ status, reason }) => reason ?? status).toSorted();

const pullOf = (scene: Scene, head: string, more: object = {}) => ({
  number: scene.shop.pulls.push({
    ...{ number: scene.shop.pulls.length + 1, title: head, body: "", head, base: "main", author: "ada" },
    ...{ state: "open", isMerged: false, isDraft: false, isFork: false },
    ...{ reviewers: [], requests: [], comments: [], reviews: [], ...more },
  }),
});

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

test("a delivery that never came is found once, by asking for it, and its firing says so", async () => {
  const opened = await scene();
  const { host, hookUrl, url, shop, setClock, firings, fixture } = opened;
  const automation = await opened.create(trigger(opened, "push"));
  const payload = { ref: "refs/heads/main", repository: { id: shop.id, html_url: url } };
  const sent = (id: number, more: object = {}) => ({
    ...{ id, guid: `guid-${id}`, delivered_at: "2026-03-02T07:50:00Z", event: "push", status: "Connection failed" },
    ...{ status_code: 502, redelivery: false, url: hookUrl, payload, ...more },
  });
  fake.deliveries.splice(0, fake.deliveries.length);
  // More than one page, in which all but one are for other addresses, of long ago, or still on their way.
  fake.deliveries.push(sent(1, { delivered_at: "2026-03-01T00:00:00Z" }), sent(2));
  for (let id = 3; id < 120; id += 1)
    fake.deliveries.push(sent(id, { guid: "other", url: "https://example.com/hook" }));
  fake.deliveries.push(sent(200, { delivered_at: "2026-03-02T07:59:59Z" }));
  fake.requests.length = 0;
  expect(await reconcile(host)).toBe(1);
  expect(await reconcile(host)).toBe(0);
  await processEvents(host);
  expect(await firings(automation)).toMatchObject([{ source: "github", recovered: true }]);
  const asked = fake.requests
    .map(({ operation }) => operation)
    .filter((operation) => /^apps\/.*deliver/.test(operation));
  expect(asked).toEqual([
    ...["apps/list-webhook-deliveries", "apps/list-webhook-deliveries"],
    ...["apps/get-webhook-delivery", "apps/get-webhook-delivery"],
  ]);
  // The one that was on its way came as usual; the poll after it finds nothing.
  await opened.deliver("push", payload);
  await fixture.platform.db
    .updateTable("inbound_events")
    .set({ delivery_id: "guid-200" })
    .where("via", "=", "webhook")
    .execute();
  setClock("2026-03-02T08:10:00Z");
  expect(await reconcile(host)).toBe(0);
  expect((await firings(automation)).map(({ recovered }) => recovered ?? false).toSorted()).toEqual([false, true]);
  expect(fake.violations).toEqual([]);
});

test("deliveries of a webhook of the repository that never came are found once, and those for another team are left to it", async () => {
  fake.grantApp({ ...appPermissions, repository_hooks: "read" });
  onTestFinished(() => fake.grantApp(appPermissions));
  const opened = await scene();
  const { host, hookUrl, url, shop, setClock, firings, fixture } = opened;
  const automation = await opened.create(trigger(opened, "push"));
  const payload = { ref: "refs/heads/main", repository: { id: shop.id, html_url: url } };
  const sent = (id: number, to: string) => ({
    ...{ id, guid: `hook-${id}`, delivered_at: "2026-03-02T07:50:00Z", event: "push", status: "Connection failed" },
    ...{ status_code: 502, redelivery: false, url: to, payload },
  });
  const [another, elsewhere] = [await addressOfAnotherTeam(fixture.platform), "https://example.com/hook"];
  const deliveries = [sent(1, hookUrl), sent(2, another), sent(3, hookUrl)];
  shop.hooks.push({ id: 7, url: hookUrl, isActive: true, deliveries });
  shop.hooks.push({ id: 8, url: elsewhere, isActive: true, deliveries: [sent(4, elsewhere)] });
  shop.hooks.push({ id: 9, url: another, isActive: true, deliveries: [sent(6, another)] });
  fake.deliveries.splice(0, fake.deliveries.length);
  expect(await reconcile(host)).toBe(2);
  expect(fake.requests.filter(({ path }) => path.includes("/hooks/9/"))).toEqual([]);
  expect(await reconcile(host)).toBe(0);
  await processEvents(host);
  expect(await firings(automation)).toMatchObject([{ recovered: true }, { recovered: true }]);
  setClock("2026-03-02T08:10:00Z");
  deliveries.push({ ...sent(5, hookUrl), delivered_at: "2026-03-02T08:05:00Z" });
  expect(await reconcile(host)).toBe(1);
  // No token that reads files reads webhooks: agents on machines of customers may have the former.
  const kinds = fake.grants.map(
    ({ permissions }) => `${"contents" in permissions}, ${"repository_hooks" in permissions}`,
  );
  expect(kinds).toContain("false, true");
  expect(kinds).not.toContain("true, true");
  expect(fake.violations).toEqual([]);
});

test("webhooks of a repository that the app may not read are looked at again in an hour, and the reason is kept", async () => {
  const opened = await scene();
  const { host, fixture, url } = opened;
  await opened.create(trigger(opened, "push"));
  fake.deliveries.splice(0, fake.deliveries.length);
  expect(await reconcile(host)).toBe(0);
  const polls = fixture.platform.db.selectFrom("delivery_polls").selectAll().where("connection", "like", "github %");
  expect(await polls.execute()).toMatchObject([
    {
      ...{ connection: expect.stringContaining(url), next_at: new Date("2026-03-02T09:00:00Z"), seen_until: null },
      failure: expect.stringContaining("which needs the permission to read webhooks"),
    },
  ]);
});

test("webhooks that GitHub fails to list are looked at again at the usual time", async () => {
  const opened = await scene();
  await opened.create(trigger(opened, "push"));
  const planned = { operation: "repos/list-webhooks", response: { status: 502, body: { message: "no" } } };
  for (let attempt = 0; attempt < 3; attempt += 1) fake.planResponse(planned);
  await reconcile(opened.host);
  const polls = opened.fixture.platform.db.selectFrom("delivery_polls").selectAll();
  expect(await polls.where("connection", "like", "github %").execute()).toMatchObject([
    { next_at: new Date("2026-03-02T08:02:30Z"), failure: expect.stringContaining("GitHub is failing") },
  ]);
});

test("a delivery that cannot be read delays no later one, and is named in the failure", async () => {
  const opened = await scene();
  const { host, hookUrl, url, shop, fixture } = opened;
  const payload = { ref: "refs/heads/main", repository: { id: shop.id, html_url: url } };
  const shared = { event: "push", status: "Connection failed", status_code: 502, redelivery: false };
  fake.deliveries.splice(0, fake.deliveries.length);
  for (const id of [1, 2])
    fake.deliveries.push({
      ...{ ...shared, id, guid: `unread-${id}`, delivered_at: `2026-03-02T07:5${id}:00Z`, url: hookUrl, payload },
    });
  const response = { status: 404, body: { message: "Not Found" } };
  fake.planResponse({ operation: "apps/get-webhook-delivery", response });
  expect(await reconcile(host)).toBe(1);
  expect(await fixture.platform.db.selectFrom("delivery_polls").selectAll().executeTakeFirstOrThrow()).toMatchObject({
    ...{ seen_until: new Date("2026-03-02T07:59:00Z"), failure: expect.stringContaining("unread-1") },
  });
});

test("a list of deliveries that was cut says since when some are missing", async () => {
  const { host, fixture } = await scene();
  const deliveredAt = new Date("2026-03-02T07:55:00Z");
  const deliveries = [{ id: 1, guid: "cut-1", event: "push", deliveredAt }];
  const read = async () => ({ url: "https://example.com/hook", payload: {} });
  await reconcile({ ...host, hookDeliveries: { list: async () => ({ deliveries, isCut: true }), read } });
  const { failure } = await fixture.platform.db.selectFrom("delivery_polls").selectAll().executeTakeFirstOrThrow();
  expect(failure).toMatch(/since 2026-03-02T06:50:00.000Z: those before 2026-03-02T07:55:00.000Z were not looked at/);
});

test("a host that does not list deliveries is asked again, and the reason is kept", async () => {
  const { host, fixture, setClock } = await scene();
  fake.planResponse({ operation: "apps/list-webhook-deliveries", response: { status: 403, body: { message: "no" } } });
  expect(await reconcile(host)).toBe(0);
  const poll = () => fixture.platform.db.selectFrom("delivery_polls").selectAll().executeTakeFirstOrThrow();
  expect(await poll()).toMatchObject({ seen_until: null, failure: expect.stringContaining("list the deliveries") });
  setClock("2026-03-02T08:10:00Z");
  await reconcile(host);
  expect(await poll()).toMatchObject({ failure: null, seen_until: new Date("2026-03-02T08:09:00Z") });
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
