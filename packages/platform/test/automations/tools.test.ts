// The tools that the platform gives to runs of automations: memories, and comments and reviews on pull requests.

import { execFileSync } from "node:child_process";
import type { Firing } from "@agentcli/protocol/api";
import { call, type Reply } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { openRunHarness, type RunHarness } from "../runs/run-harness.ts";

const tool = (name: string, args: Parameters<typeof call>[1]): Reply => call(`mcp__platform__${name}`, args);

/** Starts a run of the automation and waits for its end. */
async function runNow({ client }: RunHarness, id: string): Promise<{ agentId: string; runId: string }> {
  const { agentId = "", runId = "" } = (await client.post(`/v1/automations/${id}/run`)).body as Firing;
  await client.waitForRun({ agentId, runId });
  return { agentId, runId };
}

async function create({ client }: RunHarness, more: object): Promise<string> {
  const body = { name: "watch", prompt: { text: "look" }, triggers: [{ type: "webhook" }], ...more };
  const created = await client.post("/v1/automations", body);
  expect(created.status).toBe(201);
  return (created.body as { id: string }).id;
}

/** What the model was answered, by the names of the tools. */
async function outcomes({ records }: RunHarness, agentId: string): Promise<string[]> {
  const settled = (await records(agentId)).flatMap((record) => (record.type === "tool.settled" ? [record] : []));
  return settled.map(({ outcome: { status, parts } }) => `${status} ${parts.map((part) => textOf(part)).join("")}`);
}

const textOf = (part: object): string => ("text" in part ? String(part.text) : "");

test("a run writes memories, the next one reads them, people edit them, and every version stays in the history", async () => {
  const harness = await openRunHarness({
    replies: [
      tool("read_memory", {}),
      tool("write_memory", { text: "Seen: issue 7." }),
      tool("write_memory", { name: "../escape", text: "x" }),
      tool("write_memory", { name: "big.md", text: "x".repeat(70_000) }),
      { messages: ["done"] },
      tool("read_memory", {}),
      tool("delete_memory", { name: "MEMORIES.md" }),
      tool("delete_memory", { name: "MEMORIES.md" }),
      { messages: ["done"] },
    ],
  });
  const { client } = harness;
  const id = await create(harness, {});
  const first = await runNow(harness, id);
  expect(await outcomes(harness, first.agentId)).toEqual([
    "completed There is no memory MEMORIES.md. Memories: none.",
    "completed Wrote MEMORIES.md, version 1, 14 bytes.",
    expect.stringMatching(/^failed name: must be the name of a file/),
    expect.stringMatching(/^failed text: has 70000 bytes; a memory has at most 65536/),
  ]);
  const path = `/v1/automations/${id}/memories`;
  expect(await client.getJson(`${path}/MEMORIES.md`)).toMatchObject({
    ...{ text: "Seen: issue 7.", version: 1, author: `agent:${first.agentId}` },
  });
  expect((await client.send("PUT", `${path}/MEMORIES.md`, { text: "Seen: issues 7 and 8." })).status).toBe(200);
  const second = await runNow(harness, id);
  const [read, removed, again] = await outcomes(harness, second.agentId);
  expect(read).toContain("BEGIN UNTRUSTED MEMORY MEMORIES.md (version 2,");
  expect(read).toContain("Seen: issues 7 and 8.");
  expect([removed, again]).toEqual(["completed Deleted MEMORIES.md.", "failed There is no memory MEMORIES.md."]);
  expect(await client.getJson(path)).toEqual({ items: [] });
  expect((await client.send("GET", `${path}/MEMORIES.md`)).status).toBe(404);
  const { items } = await client.getJson<{ items: { version: number; text?: string }[] }>(
    `${path}/MEMORIES.md/history`,
  );
  expect(items.map(({ version, text }) => [version, text])).toEqual([
    [3, undefined],
    [2, "Seen: issues 7 and 8."],
    [1, "Seen: issue 7."],
  ]);
});

test("an agent that is created under the id of a deleted one has no tools of its automation, and neither has one of a disabled automation", async () => {
  const harness = await openRunHarness({
    replies: [
      tool("write_memory", { text: "Of the automation." }),
      { messages: ["done"] },
      tool("read_memory", {}),
      { messages: ["done"] },
      tool("read_memory", {}),
      { messages: ["done"] },
    ],
  });
  const { client } = harness;
  const id = await create(harness, {});
  const { agentId } = await runNow(harness, id);
  expect((await client.send("POST", `/v1/automations/${id}/disable`)).status).toBe(200);
  const next = await client.post(`/v1/agents/${agentId}/runs`, { prompt: { text: "again" } });
  await client.waitForRun({ agentId, runId: (next.body as { run: { id: string } }).run.id });
  expect((await outcomes(harness, agentId)).at(-1)).toMatch(/^failed /);
  expect((await client.send("POST", `/v1/automations/${id}/enable`)).status).toBe(200);
  expect((await client.send("DELETE", `/v1/agents/${agentId}`)).status).toBe(200);
  const created = await client.post("/v1/agents", { agentId, prompt: { text: "look" } });
  expect(created.status).toBe(200);
  await client.waitForRun({ agentId, runId: (created.body as { run: { id: string } }).run.id });
  expect(await outcomes(harness, agentId)).toEqual([expect.stringMatching(/^failed /)]);
});

test("a run comments on pull requests of its repository alone; approvals need a setting, those of its own another one", async () => {
  const review = (verdict: string, number = 1) => tool("review_pull_request", { number, verdict, body: "fine" });
  const harness = await openRunHarness({
    replies: [
      tool("comment_on_pull_request", { number: 1, body: "as a whole" }),
      tool("comment_on_pull_request", { number: 1, body: "here", path: "a.txt", line: 1 }),
      tool("comment_on_pull_request", { number: 1, body: "half", path: "a.txt" }),
      tool("comment_on_pull_request", { number: 99, body: "nowhere" }),
      review("approved"),
      review("commented"),
      { messages: ["done"] },
      review("approved"),
      review("approved", 2),
      { messages: ["done"] },
      review("approved", 2),
      { messages: ["done"] },
    ],
  });
  const { client, fixture } = harness;
  const repoUrl = await harness.repository("shop", { "a.txt": "a\n" });
  await harness.repository("other", { "a.txt": "a\n" });
  await openPull(harness, "shop", "topic");
  await openPull(harness, "shop", "agents/own");
  const target = { type: "repo", repoUrl };
  const careful = await create(harness, { target, tools: { commentOnPullRequest: { enabled: true } } });
  const first = await runNow(harness, careful);
  expect(await outcomes(harness, first.agentId)).toEqual([
    "completed Commented on pull request 1.",
    "completed Commented on pull request 1.",
    "failed A comment on a line needs both path and line.",
    "failed The repository has no pull request 99.",
    expect.stringMatching(/^failed approved: approvals are not enabled/),
    "completed Reviewed pull request 1: commented.",
  ]);
  const comments = await client.getJson<{ items: object[] }>("/git/shop/pulls/1/comments");
  expect(comments.items).toMatchObject([
    { body: "as a whole", author: `agent:${first.agentId}` },
    { body: "here", path: "a.txt", line: 1 },
  ]);
  const approver = await create(harness, {
    ...{ name: "approver", target, tools: { commentOnPullRequest: { enabled: true, allowApprovals: true } } },
  });
  const { id: firingId } = await earlierFiring(harness, approver);
  expect(firingId).toMatch(/^fire-/);
  const second = await runNow(harness, approver);
  expect(await outcomes(harness, second.agentId)).toEqual([
    "completed Reviewed pull request 1: approved.",
    expect.stringMatching(/^failed approved: pull request 2 is of this automation itself/),
  ]);
  const path = `/v1/automations/${approver}`;
  const withOwn = { enabled: true, allowApprovals: true, allowOwnPullRequests: true };
  const change = (settings: object) => client.send("PATCH", path, { tools: { commentOnPullRequest: settings } });
  expect(await change({ ...withOwn, allowApprovals: false })).toMatchObject({
    ...{
      status: 400,
      body: { error: { message: expect.stringContaining("allowOwnPullRequests: needs allowApprovals") } },
    },
  });
  expect((await change(withOwn)).status).toBe(200);
  const third = await runNow(harness, approver);
  expect(await outcomes(harness, third.agentId)).toEqual(["completed Reviewed pull request 2: approved."]);
  expect(
    (await fixture.platform.db.selectFrom("pull_request_reviews").select("verdict").execute()).map(
      (row) => row.verdict,
    ),
  ).toEqual([...["commented", "approved", "approved"]]);
});

test("with approvals a run dismisses reviews, but not on its own pull requests, and asks for reviews with the reason", async () => {
  const dismiss = (number: number) => tool("dismiss_reviews", { number, reviewer: "user:1", message: "It is fixed." });
  const harness = await openRunHarness({
    replies: [
      dismiss(1),
      dismiss(1),
      dismiss(2),
      tool("request_reviewers", { number: 1 }),
      tool("request_reviewers", { number: 1, reviewers: [{ login: "ada", reason: "knows the shop" }] }),
      { messages: ["done"] },
    ],
  });
  const { client } = harness;
  const repoUrl = await harness.repository("shop", { "a.txt": "a\n" });
  await openPull(harness, "shop", "topic");
  await openPull(harness, "shop", "agents/own");
  for (const number of [1, 2])
    await client.post(`/git/shop/pulls/${number}/reviews`, { verdict: "changes_requested", body: "no" });
  const id = await create(harness, {
    target: { type: "repo", repoUrl },
    tools: { commentOnPullRequest: { enabled: true, allowApprovals: true }, requestReviewers: true },
  });
  await earlierFiring(harness, id);
  const { agentId } = await runNow(harness, id);
  expect(await outcomes(harness, agentId)).toEqual([
    "completed Dismissed 1 of user:1 on pull request 1.",
    "failed user:1 has no approval or request for changes on pull request 1.",
    "failed Pull request 2 is of this automation itself; a person decides on it.",
    "failed The history of the changed files names no person; name reviewers.",
    "completed Requested reviews of ada.",
  ]);
  const verdicts = async (number: number) =>
    (await client.getJson<{ items: { verdict: string }[] }>(`/git/shop/pulls/${number}/reviews`)).items;
  expect(await verdicts(1)).toMatchObject([{ verdict: "dismissed" }]);
  expect(await verdicts(2)).toMatchObject([{ verdict: "changes_requested" }]);
  expect(await client.getJson("/git/shop/pulls/1/comments")).toMatchObject({
    items: [{ author: `agent:${agentId}`, body: "Requested reviews:\n- ada: knows the shop" }],
  });
});

/** A branch with its pull request, as a person would make them. */
async function openPull({ client, dataDirectory, fixture }: RunHarness, name: string, head: string): Promise<void> {
  const { id } = await fixture.platform.db
    .selectFrom("hosted_repositories")
    .select("id")
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], {
      ...{ encoding: "utf8", cwd: `${dataDirectory}/repositories/${id}.git` },
    }).trim();
  git("update-ref", `refs/heads/${head}`, git("commit-tree", "main^{tree}", "-p", "main", "-m", "more"));
  const opened = await client.post(`/git/${name}/pulls`, { title: head, head });
  expect(opened.status).toBe(201);
}

/** An agent of the automation once handed off the branch agents/own; its firing and the agent are gone since. */
async function earlierFiring({ fixture }: RunHarness, automationId: string): Promise<{ id: string }> {
  const { db } = fixture.platform;
  const { agentId, runId } = await fixture.newAgent();
  await db.updateTable("runs").set({ status: "FINISHED" }).where("id", "=", runId).execute();
  const values = {
    id: "fire-earlier",
    automation_id: automationId,
    source: "manual" as const,
    status: "started" as const,
  };
  await db
    .insertInto("automation_firings")
    .values({ ...values, trigger_id: null, planned_at: new Date(), agent_id: agentId, created_at: new Date() })
    .execute();
  const branches = { branch: "agents/own", base_branch: "main", base_commit: "0".repeat(40) };
  await db
    .insertInto("handoffs")
    .values({ agent_id: agentId, run_id: runId, repo_url: "x/git/shop", ...branches, state: "done" })
    .execute();
  await db.deleteFrom("automation_firings").where("id", "=", values.id).execute();
  await db.deleteFrom("agents").where("id", "=", agentId).execute();
  return { id: values.id };
}
