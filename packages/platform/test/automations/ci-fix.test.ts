// The automatic fix of failed checks: a test for each row of its state table, then the whole way on the embedded host.
import { call } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { storeDelivery } from "../../src/automations/inbound/deliveries.ts";
import { recordHostEvent } from "../../src/automations/inbound/own-host.ts";
import { processEvents } from "../../src/automations/inbound/process.ts";
import { insertSource } from "../../src/automations/inbound/store.ts";
import { automationRetention } from "../../src/automations/retention.ts";
import { listSubscriptions } from "../../src/automations/subscriptions/store.ts";
import { wakeAgents } from "../../src/automations/subscriptions/wake.ts";
import { teamKey } from "../../src/foundation/vault/index.ts";
import { changeTeamSettings, changeUserSettings } from "../../src/identity/settings/index.ts";
import { openRunHarness } from "../runs/run-harness.ts";
import { type AutomationHarness, openAutomationHarness } from "./automation-harness.ts";

const repoUrl = "https://git.example.com/acme/shop";
const pullUrl = `${repoUrl}/pull/7`;
const branch = "agents/fix-it";
const [first, second, foreign] = ["1".repeat(40), "2".repeat(40), "9".repeat(40)];

interface Fixing extends Omit<AutomationHarness, "close"> {
  agentId: string;
  /** A status of a check on a commit, as a CI system reports it. */
  check(state: string, options?: { commit?: string; on?: string; name?: string }): Promise<void>;
  /** All checks of an app, as GitHub reports them: without the name of a check. */
  suite(conclusion: string, options?: { commit?: string; on?: string }): Promise<void>;
  comment(text: string, sender?: string): Promise<void>;
  close(merged: boolean): Promise<void>;
  reopen(): Promise<void>;
  /** Ends what is active, waits until events come no more together, and wakes. */
  wake(): Promise<void>;
  /** How many follow-ups the agent got by itself. */
  fixes(): Promise<number>;
  /** The agent pushes another commit. */
  push(commit: string): Promise<void>;
}

const appId = 4711;
const suiteOf = (conclusion: string, { commit = first, on = branch } = {}) => ({
  ...{ action: "completed", sender: { login: "ci", type: "User" } },
  check_suite: { conclusion, head_sha: commit, head_branch: on, app: { id: appId, name: "GitHub Actions" } },
});

async function openFixing(): Promise<Fixing> {
  const harness = await openAutomationHarness("2026-03-02T08:00:00Z");
  const { platform, principal, newAgent } = harness.fixture;
  const { db, vault } = platform;
  let seconds = 0;
  const pass = (more: number) => {
    seconds += more;
    harness.setClock(new Date(Date.parse("2026-03-02T08:00:00Z") + seconds * 1000).toISOString());
  };
  const { agentId, runId } = await newAgent();
  const shared = { agent_id: agentId, repo_url: "git.example.com/acme/shop", run_id: runId, branch, pr_url: pullUrl };
  const base = { base_branch: "main", base_commit: "0".repeat(40), state: "done" as const };
  await db
    .insertInto("handoffs")
    .values({ ...shared, ...base, pushed_commit: first })
    .execute();
  const noted = { repo_url: shared.repo_url, state: "ended" as const };
  await db
    .insertInto("handoff_checks")
    .values({ ...noted, run_id: runId, commit_name: first })
    .execute();
  const record = async (name: string, payload: object) => {
    const repository = { html_url: repoUrl };
    await recordHostEvent(vault)(db, {
      ...{ teamId: principal.teamId, name: name as "status" },
      payload: { repository, ...payload },
    });
    await processEvents(harness.host);
    pass(1);
  };
  const endRuns = () => db.updateTable("runs").set({ status: "FINISHED" }).execute();
  await endRuns();
  return {
    ...harness,
    agentId,
    check: (state, { commit = first, on = branch, name = "test" } = {}) =>
      record("status", {
        ...{ state, sha: commit, context: name, description: "2 of 30 failed", branches: [{ name: on }] },
        sender: { login: "ci", type: "User" },
      }),
    suite: (conclusion, options) => record("check_suite", suiteOf(conclusion, options)),
    close: (merged) =>
      record("pull_request", { action: "closed", pull_request: { number: 7, html_url: pullUrl, merged } }),
    reopen: () => record("pull_request", { action: "reopened", pull_request: { number: 7, html_url: pullUrl } }),
    comment: (body, sender = "ada") =>
      record("issue_comment", {
        ...{ action: "created", comment: { body }, sender: { login: sender, type: "User" } },
        issue: { number: 7, html_url: pullUrl, pull_request: {} },
      }),
    async wake() {
      pass(20);
      await wakeAgents(harness.host);
      await endRuns();
    },
    async fixes() {
      const runs = await db.selectFrom("runs").select("request_id").where("agent_id", "=", agentId).execute();
      return runs.filter(({ request_id }) => request_id?.startsWith("wake-")).length;
    },
    async push(commit) {
      await db.updateTable("handoffs").set({ pushed_commit: commit }).execute();
      const latest = await db.selectFrom("agents").select("latest_run_id").executeTakeFirstOrThrow();
      const run_id = latest.latest_run_id ?? "";
      await db
        .insertInto("handoff_checks")
        .values({ ...noted, run_id, commit_name: commit })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
  };
}

const turnOff = ({ platform: { db }, principal }: AutomationHarness["fixture"]) =>
  db.transaction().execute((tx) => changeTeamSettings(tx, principal.teamId, { autofix: false }));

/** What happens on the pull request, how many fixes follow, and what the subscription says at the end. */
const rows: [string, (fixing: Fixing) => Promise<void>, { fixes: number; state: string | null }][] = [
  ["a failed check is followed by a fix", ({ check }) => check("failure"), { fixes: 1, state: "active" }],
  [
    "several checks that fail together are followed by one fix",
    async ({ check }) => {
      await check("failure");
      await check("error", { name: "lint" });
    },
    { fixes: 1, state: "active" },
  ],
  ["a check that succeeds is followed by nothing", ({ check }) => check("success"), { fixes: 0, state: null }],
  [
    "a check on another branch is followed by nothing",
    ({ check }) => check("failure", { on: "topic" }),
    { fixes: 0, state: null },
  ],
  [
    "a late result for a commit that the agent has replaced is followed by nothing",
    async ({ check, push }) => {
      await push(second);
      await check("failure", { commit: first });
    },
    { fixes: 0, state: null },
  ],
  [
    "a check that fails again after the fix is followed by another fix",
    async ({ check, wake, push }) => {
      await check("failure");
      await wake();
      await push(second);
      await check("failure", { commit: second });
    },
    { fixes: 2, state: "active" },
  ],
  [
    "it stops at the commit of a person",
    async ({ check, wake }) => {
      await check("failure");
      await wake();
      await check("failure", { commit: foreign });
      await check("failure");
    },
    { fixes: 1, state: `Stopped: a person pushed ${foreign.slice(0, 12)}.` },
  ],
  [
    "it stops at a follow-up of a person",
    async ({ check, wake, fixture, agentId }) => {
      await check("failure");
      await wake();
      await fixture.followUp(agentId);
      await check("failure");
    },
    { fixes: 1, state: "Stopped: a person sent the agent a follow-up." },
  ],
  [
    "it does not begin with a check that fails on the base",
    async ({ check }) => {
      await check("failure", { on: "main", commit: foreign });
      await check("failure");
    },
    { fixes: 0, state: null },
  ],
  [
    "it stops at a check that fails on the base since",
    async ({ check, wake }) => {
      await check("failure");
      await wake();
      await check("failure", { on: "main", commit: foreign });
      await check("failure");
    },
    { fixes: 1, state: "Stopped: the check fails on the base branch as well." },
  ],
  [
    "a check that succeeds on the base again is fixed",
    async ({ check }) => {
      await check("failure", { on: "main", commit: foreign });
      await check("success", { on: "main", commit: foreign });
      await check("failure");
    },
    { fixes: 1, state: "active" },
  ],
  [
    "a suite of an app that fails on the base does not keep another of the app from being fixed",
    async ({ suite }) => {
      await suite("failure", { on: "main", commit: foreign });
      await suite("failure");
    },
    { fixes: 1, state: "active" },
  ],
  [
    "it stops when the pull request is merged, and what waits is dropped",
    async ({ check, close }) => {
      await check("failure");
      await close(true);
      await check("failure");
    },
    { fixes: 0, state: "Stopped: the pull request was merged." },
  ],
  [
    "it stops when the pull request is closed",
    async ({ check, close, wake }) => {
      await check("failure");
      await wake();
      await close(false);
      await check("failure");
    },
    { fixes: 1, state: "Stopped: the pull request was closed." },
  ],
  [
    "a check that fails for the first time after the merge is followed by nothing",
    async ({ check, close }) => {
      await close(true);
      await check("failure");
    },
    { fixes: 0, state: "Stopped: the pull request was merged." },
  ],
  [
    "it goes on when a closed pull request is opened again",
    async ({ check, close, reopen, wake }) => {
      await check("failure");
      await wake();
      await close(false);
      await reopen();
      await check("failure");
    },
    { fixes: 2, state: "active" },
  ],
  [
    "it stays off when a pull request is opened again for which it was turned off",
    async ({ check, close, comment, reopen }) => {
      await comment("@platform autofix off");
      await close(false);
      await reopen();
      await check("failure");
    },
    { fixes: 0, state: "Stopped: turned off by ada." },
  ],
  [
    "it does not begin where the settings of the team turn it off",
    async ({ check, fixture }) => {
      await turnOff(fixture);
      await check("failure");
    },
    { fixes: 0, state: null },
  ],
  [
    "it stops where the settings of the team turn it off",
    async ({ check, wake, fixture }) => {
      await check("failure");
      await wake();
      await turnOff(fixture);
      await check("failure");
    },
    { fixes: 1, state: "Stopped: it is turned off in the settings." },
  ],
  [
    "settings of the user count before those of the team",
    async ({ check, fixture }) => {
      await turnOff(fixture);
      const { db } = fixture.platform;
      await db.transaction().execute((tx) => changeUserSettings(tx, 1, { autofix: true }));
      await check("failure");
    },
    { fixes: 1, state: "active" },
  ],
  [
    "`autofix on` counts for its pull request, whatever the settings say",
    async ({ check, comment, fixture }) => {
      await turnOff(fixture);
      await comment("@platform autofix on");
      await check("failure");
    },
    { fixes: 1, state: "active" },
  ],
  [
    "an agent with as many subscriptions as there may be is woken",
    async ({ check, fixture, agentId }) => {
      const { db } = fixture.platform;
      const shared = {
        agent_id: agentId,
        team_id: fixture.principal.teamId,
        source: "timer",
        status: "active",
      } as const;
      const times = { created_at: new Date("2026-03-01"), expires_at: new Date("2027-03-01"), created_by: "ada" };
      const filter = Buffer.from("");
      const ids = Array.from({ length: 50 }, (_, index) => `sub-${index}`);
      const values = ids.map((id) => ({ ...shared, ...times, id, filter }));
      await db.insertInto("subscriptions").values(values).execute();
      await check("failure");
    },
    { fixes: 1, state: "active" },
  ],
  [
    "it stops after ten follow-ups",
    async ({ check, wake }) => {
      for (let round = 0; round < 11; round += 1) {
        await check("failure");
        await wake();
      }
    },
    { fixes: 10, state: "Stopped: the agent was woken 10 times for it." },
  ],
  [
    "`autofix off` stops it, and what waits is dropped",
    async ({ check, comment }) => {
      await check("failure");
      await comment("thanks\n@platform autofix off");
      await check("failure");
    },
    { fixes: 0, state: "Stopped: turned off by ada." },
  ],
  [
    "`autofix off` before the first failure keeps it from beginning, and `autofix on` begins it again",
    async ({ check, comment, wake }) => {
      await comment("@platform autofix off");
      await check("failure");
      await wake();
      await comment("@platform autofix on");
      await check("failure");
    },
    { fixes: 1, state: "active" },
  ],
  [
    "a comment of an agent turns nothing off",
    async ({ check, comment, agentId }) => {
      await comment("@platform autofix off", `agent:${agentId}`);
      await check("failure");
    },
    { fixes: 1, state: "active" },
  ],
  [
    "a sentence about it turns nothing off",
    async ({ check, comment }) => {
      await comment("should we say @platform autofix off here?");
      await check("failure");
    },
    { fixes: 1, state: "active" },
  ],
];

test.each(rows)("%s", async (_name, happen, expected) => {
  const fixing = await openFixing();
  await happen(fixing);
  await fixing.wake();
  const [subscription] = await listSubscriptions(fixing.fixture.platform.db, fixing.agentId);
  const state = subscription ? (subscription.status === "active" ? "active" : subscription.ended_reason) : null;
  expect({ fixes: await fixing.fixes(), state }).toEqual(expected);
});

test("a check suite that the platform itself published is followed by nothing", async () => {
  const { host, fixture, agentId } = await openFixing();
  const { db, vault, settings } = fixture.platform;
  const { teamId } = fixture.principal;
  const key = await teamKey(db, vault, teamId);
  const { source } = await insertSource(db, { teamId, name: "shop", key });
  const body = Buffer.from(JSON.stringify({ repository: { id: 1, html_url: repoUrl }, ...suiteOf("failure") }));
  const deliver = async (own: number) => {
    const credentials = { kind: "app" as const, appId: String(own), privateKeyFile: "key.pem" };
    const github = { baseUrl: "https://api.git.example.com", client: null, credentials };
    const sourceHosts = { ...settings.sourceHosts, github };
    await storeDelivery(db, { source, deliveryId: `of ${own}`, name: "check_suite", key, body }, null);
    await processEvents({ ...host, platform: { ...host.platform, settings: { ...settings, sourceHosts } } });
    return (await listSubscriptions(db, agentId)).length;
  };
  expect(await deliver(appId)).toBe(0);
  expect(await deliver(appId + 1)).toBe(1);
});

test("`autofix on` lets it run as long as a new one, and its wake-ups are known until it ends", async () => {
  const { check, comment, wake, host, fixture, agentId } = await openFixing();
  const { db } = fixture.platform;
  await check("failure");
  await wake();
  await db
    .updateTable("subscriptions")
    .set({ expires_at: new Date("2026-03-03") })
    .execute();
  await comment("@platform autofix on");
  const [subscription] = await listSubscriptions(db, agentId);
  expect(subscription?.expires_at.getTime()).toBeGreaterThan(host.now().getTime() + 179 * 24 * 60 * 60 * 1000);
  const long = new Date("2020-01-01");
  await db.updateTable("wake_ups").set({ created_at: long }).execute();
  await db.updateTable("subscription_events").set({ created_at: long }).execute();
  const countKept = async () => {
    for (const rule of automationRetention(db, 90)) for await (const _ of rule.remove());
    return (await db.selectFrom("wake_ups").select("id").execute()).length;
  };
  expect(await countKept()).toBe(1);
  await comment("@platform autofix off");
  expect(await countKept()).toBe(0);
});

test("on the embedded host an agent opens a pull request, CI fails, and the agent pushes a fix to the same pull request", async () => {
  const write = (text: string) => call("exec_command", { cmd: `echo ${text} > fix.txt` });
  const harness = await openRunHarness({
    replies: [write("wrong"), { messages: ["Done."] }, write("right"), { messages: ["Fixed."] }],
    settings: { roles: ["api", "runner", "scheduler"] },
  });
  const { client, fixture, requests } = harness;
  const { db } = fixture.platform;
  const url = await harness.repository("shop", { "a.txt": "a\n" });
  const { agentId, runId } = await client.create("fix it", { repos: [{ url }], autoCreatePR: true });
  await client.waitForRun({ agentId, runId });
  const handoff = () => db.selectFrom("handoffs").selectAll().where("agent_id", "=", agentId).executeTakeFirstOrThrow();
  const { pushed_commit: wrong, pr_url } = await handoff();
  const status = { state: "failure", context: "test", description: "expected right" };
  expect((await client.post(`/git/shop/statuses/${wrong}`, status)).status).toBeLessThan(300);
  await expect.poll(async () => (await handoff()).pushed_commit).not.toBe(wrong);
  expect((await handoff()).pr_url).toBe(pr_url);
  expect(
    requests()
      .map(({ body }) => JSON.stringify(body))
      .join("\n"),
  ).toContain("A check of your pull request has failed");
  expect(await client.getJson(`/v1/agents/${agentId}/subscriptions`)).toMatchObject({
    items: [{ source: "ci_fix", status: "active", filter: { pullRequest: 1 }, createdBy: "platform" }],
  });
  const comments = async () =>
    (await client.getJson<{ items: { author: string; body: string }[] }>("/git/shop/pulls/1/comments")).items
      .filter(({ author }) => author === "platform")
      .map(({ body }) => body.split(". ").slice(0, 2).join(". "));
  const on = expect.stringMatching(/^Automatic fix of failed checks: on\. A failed check wakes .*10 times at most$/);
  await expect.poll(comments).toEqual([on]);
  await client.post("/git/shop/pulls/1/comments", { body: "@platform autofix off" });
  const off = "Automatic fix of failed checks: off. Stopped: turned off by user:1";
  await expect.poll(comments).toEqual([on, off]);
});
