// Runs that only propose: in shadow mode and in back-tests, what they would write is recorded, and nothing is written.
import { execFileSync } from "node:child_process";
import type { Backtest, Firing, Proposal } from "@agentcli/protocol/api";
import { call, type Reply } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { recordHostEvent } from "../../src/automations/inbound/own-host.ts";
import { command } from "../harness/command.ts";
import { openRunHarness, type RunHarness } from "../runs/run-harness.ts";

const tool = (name: string, args: Parameters<typeof call>[1]): Reply => call(`mcp__platform__${name}`, args);
const secret = "s3cr3t-1b2c3d4e5f6a7b8c-value";

/** Everything that a run can write with. */
const writes = (command = "true"): Reply[] => [
  call("exec_command", { cmd: `echo changed > b.txt; ${command}` }),
  tool("comment_on_pull_request", { number: 1, body: `fine ${secret}` }),
  tool("review_pull_request", { number: 1, verdict: "approved" }),
  tool("write_memory", { text: "seen" }),
  tool("set_timer", { delaySeconds: 60, note: "look again" }),
  { messages: ["done"] },
];

const proposed = [
  "comment_on_pull_request",
  "review_pull_request",
  "write_memory",
  "set_timer",
  "push",
  "create_pull_request",
];

async function openScenario(more: object = {}) {
  const replies: Reply[] = [];
  const harness = await openRunHarness({
    replies: () => replies.shift() ?? { messages: ["done"] },
    settings: { roles: ["api", "runner", "scheduler"] },
  });
  const { client } = harness;
  const shop = await openRepository(harness);
  const stored = await client.send("PUT", "/v1/team/secrets/A_TOKEN", { value: secret, type: "runtime_secret" });
  expect(stored.status).toBeLessThan(300);
  const created = await client.post("/v1/automations", {
    ...{ name: "watch", prompt: { text: "look" }, target: { type: "repo", repoUrl: shop } },
    triggers: [{ type: "github", event: "pull_request.opened", repos: [shop] }],
    tools: { createPullRequest: true, commentOnPullRequest: { enabled: true, allowApprovals: true } },
    ...more,
  });
  expect(created.status).toBe(201);
  return { harness, client, shop, replies, id: (created.body as { id: string }).id };
}

/** With the pull request 1 of the branch topic. */
async function openRepository({ client, dataDirectory, fixture, repository }: RunHarness): Promise<string> {
  const url = await repository("shop", { "a.txt": "a\n" });
  const { id } = await fixture.platform.db.selectFrom("hosted_repositories").select("id").executeTakeFirstOrThrow();
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], {
      ...{ encoding: "utf8", cwd: `${dataDirectory}/repositories/${id}.git` },
    }).trim();
  git("update-ref", "refs/heads/topic", git("commit-tree", "main^{tree}", "-p", "main", "-m", "more"));
  expect((await client.post("/git/shop/pulls", { title: "Topic", head: "topic" })).status).toBe(201);
  return url;
}

/** What people would see of a write. */
async function stateOf({ client, fixture: { platform } }: RunHarness, id: string) {
  const { tips } = await platform.db.selectFrom("hosted_repositories").select("tips").executeTakeFirstOrThrow();
  const list = async (path: string) => (await client.getJson<{ items: object[] }>(path)).items;
  return {
    branches: Object.keys(tips ?? {}).sort(),
    comments: await list("/git/shop/pulls/1/comments"),
    reviews: await list("/git/shop/pulls/1/reviews"),
    pulls: (await list("/git/shop/pulls")).length,
    memories: await list(`/v1/automations/${id}/memories`),
    subscriptions: await platform.db.selectFrom("subscriptions").select("id").execute(),
    handoffs: await platform.db.selectFrom("handoffs").select("agent_id").execute(),
  };
}

test("an automation in shadow mode proposes: its writes are recorded with the firing, and nothing reaches the git host", async () => {
  const { harness, client, shop, replies, id } = await openScenario({ shadow: true });
  replies.push(...writes(`git push ${shop} HEAD:refs/heads/owned; curl -sS -m 5 http://outside.invalid/`));
  const before = await stateOf(harness, id);
  const firing = (await client.post(`/v1/automations/${id}/run`)).body as Firing;
  const { agentId = "", runId = "" } = firing;
  await client.waitForRun({ agentId, runId });
  expect(await stateOf(harness, id)).toEqual(before);
  const [record] = (await client.getJson<{ items: Firing[] }>(`/v1/automations/${id}/firings`)).items;
  expect(record).toMatchObject({ id: firing.id, shadow: true, status: "started", runStatus: "FINISHED" });
  const { items } = await client.getJson<{ items: Proposal[] }>(`/v1/automations/${id}/firings/${firing.id}/proposals`);
  expect(items.map((proposal) => proposal.tool)).toEqual(proposed);
  expect(items.find(({ tool: name }) => name === "push")?.arguments.patch).toContain("+changed");
  expect(items[0]?.arguments).toMatchObject({ number: 1, body: expect.stringMatching(/^fine /) });
  expect(JSON.stringify(items)).not.toContain(secret);
  const output = JSON.stringify((await harness.records(agentId)).filter(({ type }) => type === "tool.settled"));
  expect(output).toContain("the egress policy of the automation");
  // Once it is live, the same run writes.
  expect((await client.send("PATCH", `/v1/automations/${id}`, { shadow: false })).status).toBe(200);
  replies.push(...writes());
  const live = (await client.post(`/v1/automations/${id}/run`)).body as Firing;
  await client.waitForRun({ agentId: live.agentId ?? "", runId: live.runId ?? "" });
  const after = await stateOf(harness, id);
  expect([after.comments.length, after.reviews.length, after.pulls, after.memories.length]).toEqual([1, 1, 2, 1]);
});

test("a back-test says for each event whether it starts a run, and what that run would have written; nothing is written", async () => {
  const { harness, client, shop, replies, id } = await openScenario({ enabled: false, shadow: false });
  replies.push(...writes());
  const record = recordHostEvent(harness.fixture.platform.vault);
  const payload = { action: "labeled", label: { name: "later" }, repository: { html_url: shop.replace(/\.git$/, "") } };
  const { teamId } = harness.fixture.principal;
  await record(harness.fixture.platform.db, { teamId, name: "issues" as "status", payload });
  const before = await stateOf(harness, id);
  const { status, body } = await client.post(`/v1/automations/${id}/backtests`, { last: 5 });
  expect(status).toBe(201);
  const path = `/v1/automations/${id}/backtests/${(body as Backtest).id}`;
  await expect.poll(async () => (await client.getJson<Backtest>(path)).status).toBe("done");
  const { items } = await client.getJson<Backtest>(path);
  expect(items).toMatchObject([
    { outcome: "none", reason: "No trigger of the automation is for this event.", proposals: [] },
    { event: "pull_request.opened", outcome: "start", runStatus: "FINISHED", costUsd: expect.stringMatching(/^0\.0/) },
  ]);
  expect(items[1]?.proposals.map((proposal) => proposal.tool)).toEqual(proposed);
  expect(await stateOf(harness, id)).toEqual(before);
  // The automation has no firing of it, and another back-test may follow.
  expect((await client.getJson<{ items: Firing[] }>(`/v1/automations/${id}/firings`)).items).toEqual([]);
  const { platform, databaseUrl } = harness.fixture;
  const tested = { platform: { ...platform, settings: { ...platform.settings, databaseUrl } } };
  const printed = await command(tested, "automations", "backtest", "watch", "--last", "1");
  expect(printed).toMatch(/^\S+ {2}issues {2}not for it {2}No trigger of the automation is for this event\.$/);
});
