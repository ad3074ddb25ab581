// What waits for a decision is in the inbox of those who may make it, until one of them has made it.
import type { Build, Firing, Inbox, InboxItem } from "@agentcli/protocol/api";
import { call, type Reply } from "@agentcli/testkit";
import { openClient, type PlatformClient } from "@agentcli/testkit/platform";
import { expect, test } from "vitest";
import { openAdministration } from "../../src/identity/principals/index.ts";
import { type EnvironmentHarness, openEnvironmentHarness } from "../environments/environment-harness.ts";
import { openRunHarness, type RunHarness } from "../runs/run-harness.ts";

const approvals = async (client: PlatformClient): Promise<InboxItem[]> =>
  (await client.getJson<Inbox>("/v1/me/inbox")).items.filter(({ kind }) => kind === "approval");
const ids = async (client: PlatformClient): Promise<string[]> => (await approvals(client)).map(({ id }) => id);

/** Beside the administrator whose key the harness has: a second one, the first without the scope, a member and a stranger. */
async function openPeople({ fixture, client: { url } }: RunHarness) {
  const { db, vault, principals } = fixture.platform;
  const administration = openAdministration(db, vault);
  await administration.createUser({ email: "second@example.com", team: "default", role: "admin" });
  const open = async (
    email: string | null,
    more: { team?: string; scopes?: ("agents:read" | "agents:write")[] } = {},
  ) => {
    const { team = "default", scopes = null } = more;
    const owner = { kind: "user", email } as const;
    const { key } = await principals.createKey({ name: "test", team, owner, scopes, expiresAt: null });
    return openClient(url, key);
  };
  const robot = { kind: "service_account", name: "robot" } as const;
  const robotKey = { name: "robot", team: "default", owner: robot, scopes: null, expiresAt: null };
  return {
    second: await open("second@example.com"),
    limited: await open(null, { scopes: ["agents:read", "agents:write"] }),
    member: await open("member@example.com"),
    stranger: await open("stranger@example.com", { team: "strangers" }),
    robot: openClient(url, (await principals.createKey(robotKey)).key),
  };
}

async function draft(harness: EnvironmentHarness, client: PlatformClient, environmentId: string): Promise<Build> {
  const answer = await client.post(`/v1/environments/${environmentId}/builds`, { install: "echo drafted" });
  expect(answer.status, answer.text).toBe(201);
  const build = await harness.ended(answer.body as Build);
  expect(build).toMatchObject({ status: "SUCCEEDED", draft: true });
  return build;
}

const firstBuild = async (harness: EnvironmentHarness, id: string): Promise<Build> =>
  harness.ended((await harness.builds(id))[0] ?? expect.fail("there is no build"));

const pathOf = ({ id, environmentId }: Build) => `/v1/environments/${environmentId}/builds/${id}`;

test("a draft build that a member asked for waits for the administrators alone, until one of them activates it", async () => {
  const harness = await openEnvironmentHarness();
  const people = await openPeople(harness);
  const { id } = await harness.create("shop");
  await firstBuild(harness, id);
  expect(await approvals(harness.client)).toEqual([]);
  const build = await draft(harness, people.member, id);
  const [item] = await approvals(harness.client);
  expect(item).toEqual({
    ...{ id: build.id, kind: "approval", isUnread: true, title: "shop", environmentId: id },
    message: `Draft ${build.id.slice(0, 21)}, requested by member@example.com`,
    at: build.completedAt,
  });
  expect(await ids(people.second)).toEqual([build.id]);
  for (const client of [people.limited, people.member, people.stranger]) {
    expect(await approvals(client)).toEqual([]);
    const marked = await client.send("PATCH", "/v1/me/inbox", { items: [build.id], state: "read" });
    expect(marked.status).toBe(404);
  }
  expect((await people.member.post(`${pathOf(build)}/activate`)).status).toBe(403);

  // Each has marks of their own: done for one is still unread for the other.
  expect((await harness.client.send("PATCH", "/v1/me/inbox", { items: [build.id], state: "done" })).status).toBe(200);
  expect(await ids(harness.client)).toEqual([]);
  expect(await approvals(people.second)).toMatchObject([{ id: build.id, isUnread: true }]);
  await harness.client.send("PATCH", "/v1/me/inbox", { items: [build.id], state: "read" });
  await harness.client.send("PATCH", "/v1/me/inbox", { items: [build.id], state: "read" });
  expect(await approvals(harness.client)).toMatchObject([{ id: build.id, isUnread: false }]);
  const marks = await harness.fixture.platform.db.selectFrom("inbox_marks").select(["build_id", "state"]).execute();
  expect(marks).toEqual([{ build_id: build.id, state: "read" }]);

  expect((await people.second.post(`${pathOf(build)}/activate`)).status).toBe(200);
  expect(await ids(harness.client)).toEqual([]);
  expect(await ids(people.second)).toEqual([]);
  // The page of the first still showed it.
  const late = await harness.client.post(`${pathOf(build)}/discard`);
  expect([late.status, late.text]).toEqual([409, expect.stringContaining("build_not_draft")]);
  expect(await harness.active(id)).toBe(build.id);
  expect((await harness.client.send("PATCH", "/v1/me/inbox", { items: [build.id], state: "read" })).status).toBe(200);
});

test("a draft that is discarded leaves every inbox, stays as a build, and no one activates it afterwards", async () => {
  const harness = await openEnvironmentHarness();
  const people = await openPeople(harness);
  const { id } = await harness.create("shop");
  const first = await firstBuild(harness, id);
  const build = await draft(harness, people.member, id);
  const other = await draft(harness, people.robot, id);
  expect(await approvals(harness.client)).toMatchObject([
    { id: other.id, message: expect.stringContaining("requested by robot") },
    { id: build.id },
  ]);
  expect((await people.stranger.post(`${pathOf(build)}/discard`)).status).toBe(404);
  expect((await people.member.post(`${pathOf(other)}/discard`)).status).toBe(403);
  // Those who asked for it may take it back; again is the same as once.
  for (let time = 0; time < 2; time += 1) {
    const answer = await people.member.post(`${pathOf(build)}/discard`);
    expect([answer.status, answer.body]).toMatchObject([200, { id: build.id, discardedAt: expect.any(String) }]);
  }
  expect(await ids(harness.client)).toEqual([other.id]);
  const late = await harness.client.post(`${pathOf(build)}/activate`);
  expect([late.status, late.text]).toEqual([409, expect.stringMatching(/build_not_ready.*it was discarded/s)]);
  expect(await harness.active(id)).toBe(first.id);
  expect((await harness.client.post(`${pathOf(first)}/discard`)).status).toBe(409);
  const { items } = await harness.client.getJson<{ items: { action: string; actorName: string; subject: string }[] }>(
    "/v1/audit?action=environment_build.changed",
  );
  const discarded = items.filter((entry) => JSON.stringify(entry).includes("discarded_at"));
  expect(discarded).toMatchObject([{ subject: build.id, actorName: "member@example.com" }]);
});

test("of two decisions at once one counts", async () => {
  const harness = await openEnvironmentHarness();
  const people = await openPeople(harness);
  const { id } = await harness.create("shop");
  const first = await firstBuild(harness, id);
  const build = await draft(harness, people.member, id);
  const answers = await Promise.all([
    harness.client.post(`${pathOf(build)}/discard`),
    people.second.post(`${pathOf(build)}/activate`),
  ]);
  const isDiscarded = answers[0].status === 200;
  expect(answers.map(({ status }) => status)).toEqual(isDiscarded ? [200, 409] : [409, 200]);
  expect(await harness.active(id)).toBe(isDiscarded ? first.id : build.id);
  expect(await ids(harness.client)).toEqual([]);
});

test("a draft of a personal environment waits for its user alone; one that is outdated or of the operator does not wait", async () => {
  const harness = await openEnvironmentHarness();
  const people = await openPeople(harness);
  const { db } = harness.fixture.platform;
  const mine = await people.member.post("/v1/environments", {
    ...{ owner: "personal", name: "mine", repos: [], environmentJson: "{}" },
  });
  const { id } = mine.body as { id: string };
  const build = (await people.member.post(`/v1/environments/${id}/builds`, { draft: true })).body as Build;
  const read = () => people.member.getJson<Build>(pathOf(build));
  await expect.poll(async () => (await read()).status, { timeout: 120_000 }).toBe("SUCCEEDED");
  expect(await ids(people.member)).toEqual([build.id]);
  expect(await ids(harness.client)).toEqual([]);

  const shared = await harness.create("shop");
  await firstBuild(harness, shared.id);
  const outdated = await draft(harness, people.member, shared.id);
  expect(await ids(harness.client)).toEqual([outdated.id]);
  await harness.ended(await harness.trigger(shared.id));
  expect(await ids(harness.client)).toEqual([]);
  const compared = await draft(harness, harness.client, shared.id);
  await db.updateTable("environment_builds").set({ requested_by: null }).where("id", "=", compared.id).execute();
  expect(await ids(harness.client)).toEqual([]);
});

test("with more than a hundred drafts the inbox has the newest hundred", async () => {
  const harness = await openEnvironmentHarness();
  const { db } = harness.fixture.platform;
  const { id } = await harness.create("shop");
  const { version_id } = await db.selectFrom("environment_builds").select("version_id").executeTakeFirstOrThrow();
  const rows = Array.from({ length: 120 }, (_, index) => {
    const at = new Date(Date.now() + 60_000 + index * 1_000);
    return {
      ...{ id: `bld-20260101-${index}`, environment_id: id, version_id, status: "SUCCEEDED" as const, draft: true },
      ...{ trigger: "MANUAL" as const, requested_by: "user:1", commits: "[]" },
      ...{ created_at: at, updated_at: at, completed_at: at },
    };
  });
  await db.insertInto("environment_builds").values(rows).execute();
  const inbox = await harness.client.getJson<Inbox>("/v1/me/inbox");
  expect(inbox.unread).toBe(100);
  expect(inbox.items.map((item) => item.id)).toEqual(
    rows
      .map((row) => row.id)
      .reverse()
      .slice(0, 100),
  );
});

/** An automation in shadow mode that starts by hand; each run comments and changes a file. */
async function openShadow(scope: "team_owned" | "team_visible") {
  const replies: Reply[] = [];
  const harness = await openRunHarness({
    replies: () => replies.shift() ?? { messages: ["done"] },
    settings: { roles: ["api", "runner", "scheduler"] },
  });
  const { client } = harness;
  const repoUrl = await harness.repository("shop", { "a.txt": "a\n" });
  const created = await client.post("/v1/automations", {
    ...{ name: "watch", scope, shadow: true, prompt: { text: "look" }, target: { type: "repo", repoUrl } },
    triggers: [{ type: "webhook" }],
  });
  expect(created.status, created.text).toBe(201);
  const { id } = created.body as { id: string };
  const fire = async (...writes: Reply[]): Promise<Firing> => {
    replies.push(...writes, { messages: ["done"] });
    const firing = (await client.post(`/v1/automations/${id}/run`)).body as Firing;
    await client.waitForRun({ agentId: firing.agentId ?? "", runId: firing.runId ?? "" });
    return firing;
  };
  return { harness, client, id, fire, people: await openPeople(harness) };
}

const writesMemory = call("mcp__platform__write_memory", { text: "seen" });
const changesFile = call("exec_command", { cmd: "echo changed > a.txt" });

test("what an automation of the team proposed in shadow mode waits for administrators, until one lets it act", async () => {
  const { client, id, fire, people } = await openShadow("team_owned");
  await fire();
  expect(await approvals(client)).toEqual([]);
  const first = await fire(writesMemory);
  expect(await ids(client)).toEqual([first.id]);
  const second = await fire(writesMemory, changesFile);
  expect(await approvals(client)).toEqual([
    {
      ...{ id: second.id, kind: "approval", isUnread: true, title: "watch", automationId: id, at: expect.any(String) },
      message: "In shadow mode nothing is written. Proposed: write memory, push, create pull request.",
    },
  ]);
  expect(await ids(people.second)).toEqual([second.id]);
  for (const reader of [people.limited, people.member, people.stranger]) expect(await ids(reader)).toEqual([]);
  expect((await people.member.send("PATCH", "/v1/me/inbox", { items: [second.id], state: "done" })).status).toBe(404);
  await client.send("PATCH", "/v1/me/inbox", { items: [second.id], state: "done" });
  expect(await ids(client)).toEqual([]);
  // A run without proposals changes nothing; the next one that proposes comes again.
  await fire();
  expect(await ids(people.second)).toEqual([second.id]);
  const third = await fire(writesMemory);
  expect([await ids(client), await ids(people.second)]).toEqual([[third.id], [third.id]]);
  expect((await people.second.send("PATCH", `/v1/automations/${id}`, { shadow: false })).status).toBe(200);
  expect([await ids(client), await ids(people.second)]).toEqual([[], []]);
});

test("what a user's own automation proposed is one item, for that user alone, and its failures are as before", async () => {
  const { harness, client, id, fire, people } = await openShadow("team_visible");
  const { db } = harness.fixture.platform;
  const proposing = await fire(writesMemory);
  const items = async (of = client) => (await of.getJson<Inbox>("/v1/me/inbox")).items;
  expect(await items()).toMatchObject([{ id: proposing.id, kind: "approval", automationId: id }]);
  expect(await items(people.second)).toEqual([]);
  const silent = await fire();
  expect(await items()).toMatchObject([
    { id: silent.runId, kind: "result" },
    { id: proposing.id, kind: "approval" },
  ]);
  await client.post(`/v1/automations/${id}/disable`);
  expect((await items()).map(({ kind }) => kind)).toEqual(["result"]);
  await db.deleteFrom("automation_firings").where("id", "=", proposing.id).execute();
  expect(await db.selectFrom("inbox_marks").selectAll().execute()).toEqual([]);
});
