// The embedded git host as a source of events: what people and agents do there starts automations, with nothing outside.
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type TestServer, testServer } from "../harness/platform.ts";

const git = promisify(execFile);

let server: TestServer;
let key: string;
let directory: string;
let name: string;
let created = 0;

beforeAll(async () => {
  server = await testServer({ roles: ["api", "scheduler"] });
  key = await server.key();
  directory = await mkdtemp(join(tmpdir(), "git-host-events-"));
});

afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

/** A repository of its own for every test, with a clone that has one commit on main. */
beforeEach(async () => {
  created += 1;
  name = `shop-${created}`;
  const { teamId } = await ownTeam();
  const { openGitHost } = await import("../../src/repositories/githost/index.ts");
  const { testSigner } = await import("../harness/signer.ts");
  const { db, vault, settings } = server.platform;
  const { dataDirectory } = settings;
  const options = { db, vault, dataDirectory, signer: testSigner(dataDirectory) };
  const host = openGitHost({ ...options, serverUrls: () => [server.url] });
  await host.repositories.create({ teamId, name, from: null }, new AbortController().signal);
  await inClone("init", "--quiet", "--initial-branch=main", ".");
  await push("main", "first");
});

const cloneUrl = () => `${server.url}/git/${name}.git`;
const clone = () => join(directory, name);

async function inClone(...args: string[]): Promise<string> {
  await git("mkdir", ["-p", clone()]);
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  const { stdout } = await git("git", [...identity, ...args], { cwd: clone() });
  return stdout.trim();
}

/** Commits a file on the branch, pushes it and returns the commit. */
async function push(branch: string, text: string, file = "notes.txt"): Promise<string> {
  await inClone("checkout", "--quiet", "-B", branch);
  await writeFile(join(clone(), file), `${text}\n`);
  await inClone("add", ".");
  await inClone("commit", "--quiet", "-m", `write ${text}`);
  await inClone("push", "--quiet", cloneUrl().replace("://", `://${key}:@`), branch);
  return inClone("rev-parse", "HEAD");
}

const onHost = async (method: string, path: string, body?: object) => {
  const { status, body: answer } = await server.call(key, method, `/git/${name}${path}`, body);
  expect(status).toBeLessThan(300);
  return answer as { number: number };
};

async function automate(event: string, more: object = {}): Promise<string> {
  const { status, body } = await server.call(key, "POST", "/v1/automations", {
    ...{ name: `${name} ${event} ${JSON.stringify(more)}`.slice(0, 100), prompt: { text: "look" } },
    triggers: [{ type: "github", event, repos: [cloneUrl()], ...more }],
    target: { type: "repo", repoUrl: cloneUrl() },
  });
  expect(body).toMatchObject({ enabled: true });
  expect(status).toBe(201);
  return (body as { id: string }).id;
}

type Firings = { id: string; status: string; source: string; reason?: string }[];
const firingsOf = async (id: string): Promise<Firings> =>
  ((await server.call(key, "GET", `/v1/automations/${id}/firings`)).body as { items: Firings }).items;

/** Every event that the host has recorded was processed. */
const settled = () =>
  expect
    .poll(
      async () => {
        const waiting = server.platform.db.selectFrom("inbound_events").select("id").where("status", "=", "received");
        return (await waiting.execute()).length;
      },
      { timeout: 60_000 },
    )
    .toBe(0);

const noEvents = { opened: 0, draft: 0, pushed: 0, merged: 0, push: 0, comment: 0, inline: 0, review: 0, label: 0 };

test("a trigger with paths fires for pushes and pull requests that change them, and for no others", async () => {
  const ids = [
    await automate("push", { paths: ["*.md"], branches: ["topic/*"] }),
    await automate("push", { paths: ["*.md"], branches: ["other"] }),
    await automate("pull_request.opened", { paths: ["*.md"] }),
    await automate("pull_request.opened", { paths: ["**", "!*.md"] }),
  ];
  const counts = async () => {
    await settled();
    return Promise.all(ids.map(async (id) => (await firingsOf(id)).length));
  };
  await push("topic/text", "one", "guide.md");
  await onHost("POST", "/pulls", { title: "Text", head: "topic/text" });
  await expect.poll(counts).toEqual([1, 0, 1, 0]);
  await inClone("checkout", "--quiet", "main");
  await push("topic/code", "one", "code.ts");
  await onHost("POST", "/pulls", { title: "Code", head: "topic/code" });
  await expect.poll(counts).toEqual([1, 0, 1, 1]);
  await push("topic/code", "two", "readme.md");
  await expect.poll(counts).toEqual([2, 0, 1, 1]);
});

test("paths are refused where an event changes none, and where all of them are excluded", async () => {
  const refusal = async (event: string, paths: string[]) => {
    const { status, body } = await server.call(key, "POST", "/v1/automations", {
      ...{ name: "paths", prompt: { text: "look" }, target: { type: "repo", repoUrl: cloneUrl() } },
      triggers: [{ type: "github", event, repos: [cloneUrl()], paths }],
    });
    return { status, message: (body as { error: { message: string } }).error.message };
  };
  expect(await refusal("check.completed", ["src/**"])).toEqual({
    ...{ status: 400, message: expect.stringContaining("triggers.0.paths: check.completed changes no paths") },
  });
  expect(await refusal("push", ["!src/**"])).toEqual({
    ...{ status: 400, message: expect.stringContaining("triggers.0.paths: name at least one path that counts") },
  });
});

test("each event of the embedded host starts the automations for it, and no others", async () => {
  const ids = {
    opened: await automate("pull_request.opened"),
    draft: await automate("pull_request.draft_opened"),
    pushed: await automate("pull_request.pushed"),
    merged: await automate("pull_request.merged"),
    push: await automate("push", { branches: ["topic*"] }),
    comment: await automate("pull_request.comment"),
    inline: await automate("review_comment"),
    review: await automate("review.submitted"),
    label: await automate("pull_request.label_changed", { label: "build", labelAction: "added" }),
  };
  const counts = async () => {
    await settled();
    const entries = Object.entries(ids).map(async ([event, id]) => [event, (await firingsOf(id)).length]);
    return Object.fromEntries(await Promise.all(entries));
  };
  await expect.poll(counts).toEqual(noEvents);
  await push("topic", "one");
  await expect.poll(counts).toEqual({ ...noEvents, push: 1 });
  await onHost("POST", "/pulls", { title: "Topic", head: "topic", draft: true });
  await expect.poll(counts).toEqual({ ...noEvents, push: 1, draft: 1 });
  await onHost("PATCH", "/pulls/1", { draft: false, title: "Another title" });
  await onHost("PATCH", "/pulls/1", { title: "A third title" });
  await expect.poll(counts).toEqual({ ...noEvents, push: 1, draft: 1, opened: 1 });
  await push("topic", "two");
  await expect.poll(counts).toEqual({ ...noEvents, push: 2, draft: 1, opened: 1, pushed: 1 });
  await onHost("POST", "/pulls/1/comments", { body: "as a whole" });
  await onHost("POST", "/pulls/1/comments", { body: "on a line", path: "notes.txt", line: 1 });
  await onHost("POST", "/pulls/1/reviews", { verdict: "approved", body: "fine" });
  const talked = { ...noEvents, push: 2, draft: 1, opened: 1, pushed: 1, comment: 1, inline: 1, review: 1 };
  await expect.poll(counts).toEqual(talked);
  await onHost("POST", "/pulls/1/labels", { labels: ["docs"] });
  await onHost("POST", "/pulls/1/labels", { labels: ["build"] });
  await onHost("POST", "/pulls/1/labels", { labels: ["build"] });
  await onHost("DELETE", "/pulls/1/labels/build");
  await expect.poll(counts).toEqual({ ...talked, label: 1 });
  await onHost("POST", "/pulls/1/merge", {});
  await expect.poll(counts).toEqual({ ...talked, label: 1, merged: 1 });
});

test("the result of a check on a commit starts the automations for that conclusion, on whatever branch it is the tip of", async () => {
  const failed = await automate("check.completed", { conclusion: "failure", branches: ["topic"] });
  const commit = await push("topic", "one");
  await onHost("POST", `/statuses/${commit}`, { state: "pending", context: "ci" });
  await onHost("POST", `/statuses/${commit}`, { state: "success", context: "lint" });
  await onHost("POST", `/statuses/${commit}`, { state: "failure", context: "ci", description: "2 tests failed" });
  await settled();
  expect(await firingsOf(failed)).toMatchObject([{ source: "git_host" }]);
  const { body } = await server.call(key, "GET", `/git/${name}/statuses/${commit}`);
  expect(body).toMatchObject({
    items: [
      { context: "ci", state: "failure", description: "2 tests failed" },
      { context: "lint", state: "success" },
    ],
  });
  const unknown = await server.call(key, "POST", `/git/${name}/statuses/${"1".repeat(40)}`, { state: "success" });
  expect(unknown).toMatchObject({ status: 400, body: { error: { code: "validation_error" } } });
});

test("a team learns nothing about the repositories of another, even of the same name", async () => {
  const stranger = await server.key({ team: "strangers" });
  const other = await server.call(stranger, "POST", "/v1/automations", {
    ...{ name: `${name} strangers`, prompt: { text: "look" }, target: { type: "repo", repoUrl: cloneUrl() } },
    triggers: [{ type: "github", event: "push", repos: [cloneUrl()] }],
  });
  expect(other.status).toBe(400);
  const label = await server.call(stranger, "POST", `/git/${name}/pulls/1/labels`, { labels: ["x"] });
  expect(label.status).toBe(404);
  const status = await server.call(stranger, "GET", `/git/${name}/statuses/${"1".repeat(40)}`);
  expect(status.status).toBe(404);
});

test("what an agent of the automation does itself starts it no more, and the record names the firing", async () => {
  const id = await automate("pull_request.comment");
  await push("topic", "one");
  await onHost("POST", "/pulls", { title: "Topic", head: "topic" });
  await onHost("POST", "/pulls/1/comments", { body: "please look" });
  await settled();
  const [first] = await firingsOf(id);
  const { agent_id } = await server.platform.db
    .selectFrom("automation_firings")
    .select("agent_id")
    .where("id", "=", first?.id ?? "")
    .executeTakeFirstOrThrow();
  const { recordHostEvent } = await import("../../src/automations/index.ts");
  const { teamId } = await ownTeam();
  const repository = { html_url: `${server.url}/git/${name}` };
  const issue = { number: 1, html_url: `${server.url}/git/${name}/pulls/1`, pull_request: {} };
  const sender = { login: `agent:${agent_id}`, type: "Bot" };
  const payload = { action: "created", comment: { body: "done" }, issue, repository, sender };
  await recordHostEvent(server.platform.vault)(server.platform.db, { teamId, name: "issue_comment", payload });
  await settled();
  const firings = await firingsOf(id);
  expect(firings).toHaveLength(2);
  expect(firings.find(({ status }) => status === "skipped")).toMatchObject({
    reason: expect.stringMatching(/^It caused this event itself: .+ \(fire-/),
    causedBy: first?.id,
  });
});

test("a push that no automation awaits is stored as processed, and one that an automation awaits waits for it", async () => {
  const { recordHostEvent } = await import("../../src/automations/index.ts");
  const { teamId } = await ownTeam();
  const { db, vault } = server.platform;
  const repository = { html_url: `${server.url}/git/${name}` };
  const record = (kind: "push" | "pull_request" | "issue_comment", more: object) =>
    db.transaction().execute(async (tx) => {
      const payload = { ...more, repository, sender: { login: "platform", type: "Bot" } };
      const before = await tx.selectFrom("event_sources").select("stored_bytes").executeTakeFirstOrThrow();
      await recordHostEvent(vault)(tx, { teamId, name: kind, payload });
      const after = await tx.selectFrom("event_sources").select("stored_bytes").executeTakeFirstOrThrow();
      expect(after.stored_bytes).toBeGreaterThan(before.stored_bytes + 1024);
      const query = tx.selectFrom("inbound_events").select(["name", "status", "firings", "processed_at"]);
      return query.orderBy("created_at", "desc").executeTakeFirst();
    });
  const processed = { status: "processed", firings: 0, processed_at: expect.any(Date) };
  const received = { status: "received", processed_at: null };
  // Of the tests before this one.
  const disabled = await db
    .updateTable("automations")
    .set({ enabled: false })
    .where("enabled", "=", true)
    .returning("id")
    .execute();
  const topic = { ref: "refs/heads/topic" };
  const pull = {
    number: 1,
    html_url: `${server.url}/git/${name}/pulls/1`,
    head: { ref: "topic" },
    base: { ref: "main" },
  };
  const opened = { number: 1, pull_request: { ...pull, draft: true } };
  expect(await record("push", topic)).toMatchObject({ name: "push", ...processed });
  expect(await record("pull_request", { action: "opened", ...opened })).toMatchObject(processed);
  // A fix that had ended with the pull request goes on, with or without an automation.
  const reopened = { action: "reopened", pull_request: { ...pull, draft: false } };
  expect(await record("pull_request", reopened)).toMatchObject(received);
  expect(await record("pull_request", { action: "closed", pull_request: pull })).toMatchObject(received);
  expect(await record("issue_comment", { action: "created", comment: { body: "hi" } })).toMatchObject(received);
  await automate("push");
  expect(await record("push", topic)).toMatchObject({ name: "push", ...received });
  expect(await record("pull_request", { action: "opened", ...opened })).toMatchObject(processed);
  await settled();
  const ids = disabled.map(({ id }) => id);
  if (ids.length > 0) await db.updateTable("automations").set({ enabled: true }).where("id", "in", ids).execute();
});

const ownTeam = async () => {
  const row = await server.platform.db
    .selectFrom("teams")
    .select("id")
    .where("name", "=", "default")
    .executeTakeFirst();
  return { teamId: row?.id ?? 0 };
};

test("a dry run shows what stored events would start, and why others would be skipped, and starts nothing", async () => {
  await push("topic", "one");
  await onHost("POST", "/pulls", { title: "Topic", head: "topic" });
  await onHost("POST", "/pulls/1/comments", { body: "<!-- hidden -->please look" });
  await settled();
  const id = await automate("pull_request.comment");
  const { status, body } = await server.call(key, "POST", `/v1/automations/${id}/dry-run`, { events: 10 });
  expect(status).toBe(200);
  const { items } = body as { items: { outcome: string; prompt: string }[] };
  expect(items).toMatchObject([{ event: "pull_request.comment", outcome: "start" }]);
  expect(items[0]?.prompt).toMatch(/^look\n/);
  expect(items[0]?.prompt).toContain("BEGIN UNTRUSTED EVENT");
  expect(items[0]?.prompt).not.toContain("hidden");
  expect(await firingsOf(id)).toEqual([]);
  const none = await automate("push", { branches: ["nothing"] });
  const { body: other } = await server.call(key, "POST", `/v1/automations/${none}/dry-run`);
  expect(other).toMatchObject({ items: [] });
});
