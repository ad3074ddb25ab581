// Events of GitHub on their way to runs: signed, stored once, decided once; loops end with a record that names the chain.
import { createHmac, randomUUID } from "node:crypto";
import { CreateAutomation } from "@agentcli/protocol/api";
import { expect, test } from "vitest";
import { openPayload } from "../../src/automations/firings/payload.ts";
import { storeDelivery } from "../../src/automations/inbound/deliveries.ts";
import { processEvents } from "../../src/automations/inbound/process.ts";
import { type EventSourceRow, insertSource } from "../../src/automations/inbound/store.ts";
import { insertAutomation } from "../../src/automations/store.ts";
import { teamKey } from "../../src/foundation/vault/index.ts";
import { testServer } from "../harness/platform.ts";
import { type AutomationHarness, openAutomationHarness } from "./automation-harness.ts";

const repository = "https://github.com/acme/shop";
const opened = (number: number, more: object = {}) => ({
  action: "opened",
  repository: { id: 1, html_url: repository },
  pull_request: {
    ...{ number, html_url: `${repository}/pull/${number}`, title: "Fix it", body: "" },
    ...{ head: { ref: "topic", repo: { id: 1 } }, base: { ref: "main", repo: { id: 1 } } },
    ...more,
  },
});
const ofFork = { head: { ref: "topic", repo: { id: 2 } } };
const comment = (number: number) => ({
  ...{ action: "created", comment: { body: "please" }, repository: { id: 1, html_url: repository } },
  issue: { number, html_url: `${repository}/pull/${number}`, pull_request: {} },
});
const definition = (event: string, more: object = {}) => ({
  ...{ triggers: [{ type: "github", event, repos: [repository] }], target: { type: "none" } },
  ...more,
});

interface Inbound extends AutomationHarness {
  /** False if it came before. */
  deliver(name: string, payload: object, deliveryId?: string): Promise<boolean>;
}

async function openInbound(): Promise<Inbound> {
  const harness = await openAutomationHarness("2026-03-02T08:00:00Z");
  const { platform, principal } = harness.fixture;
  const key = await teamKey(platform.db, platform.vault, principal.teamId);
  const { source } = await insertSource(platform.db, { teamId: principal.teamId, name: "shop", key });
  return { ...harness, deliver: (name, payload, id) => deliver({ harness, source }, { name, payload, id }) };
}

async function deliver(
  { harness, source }: { harness: AutomationHarness; source: EventSourceRow },
  { name, payload, id = randomUUID() }: { name: string; payload: object; id?: string },
): Promise<boolean> {
  const { db, vault } = harness.fixture.platform;
  const key = await teamKey(db, vault, source.team_id);
  const body = Buffer.from(JSON.stringify(payload));
  const isNew = await storeDelivery(db, { source, deliveryId: id, name, key, body }, null);
  await processEvents(harness.host);
  await harness.look();
  return isNew;
}

test("an event starts one run, and a delivery that comes again starts none", async () => {
  const inbound = await openInbound();
  const automation = await inbound.create(definition("pull_request.opened"));
  await inbound.deliver("ping", { zen: "…" });
  expect(await inbound.deliver("pull_request", opened(1), "d-1")).toBe(true);
  expect(await inbound.deliver("pull_request", opened(1), "d-1")).toBe(false);
  expect(await inbound.firings(automation)).toMatchObject([
    { source: "github", status: "started", agentId: expect.any(String) },
  ]);
  expect(await inbound.countRuns()).toBe(1);
});

test("of several servers that look at once, one decides", async () => {
  const inbound = await openInbound();
  const automation = await inbound.create(definition("pull_request.opened"));
  const { db, vault } = inbound.fixture.platform;
  const { teamId } = inbound.fixture.principal;
  const key = await teamKey(db, vault, teamId);
  const { source } = await insertSource(db, { teamId, name: "another", key });
  for (let number = 1; number <= 10; number += 1) {
    const body = Buffer.from(JSON.stringify(opened(number)));
    await storeDelivery(db, { source, deliveryId: `d-${number}`, name: "pull_request", body, key }, null);
  }
  await Promise.all(Array.from({ length: 5 }, () => processEvents(inbound.host)));
  await inbound.look();
  expect(await inbound.firings(automation)).toHaveLength(10);
  expect(await inbound.countRuns()).toBe(10);
});

test("a pull request of a fork is recorded with the reason and starts nothing, nor do comments on it", async () => {
  const inbound = await openInbound();
  const automation = await inbound.create({
    ...definition("pull_request.opened"),
    triggers: ["pull_request.opened", "pull_request.comment"].map((event) => ({
      ...{ type: "github", event, repos: [repository] },
    })),
  });
  await inbound.deliver("issue_comment", comment(8));
  await inbound.deliver("pull_request", opened(8, ofFork));
  await inbound.deliver("issue_comment", comment(8));
  await inbound.deliver("pull_request", opened(9));
  await inbound.deliver("issue_comment", comment(9));
  const reasons = (await inbound.firings(automation)).map(({ status, reason = "" }) => `${status} ${reason}`.trim());
  expect(reasons.toSorted()).toEqual([
    expect.stringMatching(/^skipped Fork pull requests not supported/),
    expect.stringMatching(/^skipped Fork pull requests not supported/),
    expect.stringMatching(/^skipped It is not known whether the pull request is of a fork/),
    "started",
    "started",
  ]);
  expect(await inbound.countRuns()).toBe(2);
});

test("an event that cannot be processed is left, and stops no other", async () => {
  const inbound = await openInbound();
  const automation = await inbound.create(definition("pull_request.opened"));
  await inbound.deliver("pull_request", opened(1, { html_url: "https://github.com/acme/shop/pull/\0" }), "d-1");
  await inbound.deliver("pull_request", opened(2), "d-2");
  expect(await inbound.firings(automation)).toMatchObject([{ status: "started" }]);
  const { db } = inbound.fixture.platform;
  const events = await db
    .selectFrom("inbound_events")
    .select(["delivery_id", "status"])
    .orderBy("delivery_id")
    .execute();
  expect(events).toEqual([
    { delivery_id: "d-1", status: "failed" },
    { delivery_id: "d-2", status: "processed" },
  ]);
});

test("of a huge event the prompt has the beginning, and says so", async () => {
  const inbound = await openInbound();
  const automation = await inbound.create(definition("pull_request.opened"));
  await inbound.deliver("pull_request", opened(1, { body: "x".repeat(2_000_000) }));
  const [firing] = await inbound.firings(automation);
  const { db, vault } = inbound.fixture.platform;
  const row = await db
    .selectFrom("automation_firings")
    .selectAll()
    .where("id", "=", firing?.id ?? "")
    .executeTakeFirstOrThrow();
  const key = await teamKey(db, vault, inbound.fixture.principal.teamId);
  const { body } = openPayload(key, row.id, row.payload ?? Buffer.alloc(0));
  expect(body.length).toBeLessThan(300_000);
  expect(body).toMatch(/\n\(cut after 262,144 of 2,000,\d{3} characters\)$/);
});

/** The run of a firing opened a pull request. */
async function handOff({ fixture }: Inbound, agentId: string | undefined, branch: string): Promise<void> {
  const { db } = fixture.platform;
  const run = await db
    .selectFrom("runs")
    .select("id")
    .where("agent_id", "=", agentId ?? "")
    .executeTakeFirstOrThrow();
  const row = { agent_id: agentId ?? "", run_id: run.id, repo_url: "github.com/acme/shop", branch };
  await db
    .insertInto("handoffs")
    .values({ ...row, base_branch: "main", base_commit: "0".repeat(40), state: "done" })
    .execute();
}

test("two automations that would trigger each other stop, and the record names the chain", async () => {
  const inbound = await openInbound();
  const one = await inbound.create(definition("pull_request.opened", { name: "one" }));
  const two = await inbound.create(definition("pull_request.opened", { name: "two" }));
  await inbound.deliver("pull_request", opened(1));
  const ownBranch = { head: { ref: "agents/one", repo: { id: 1 } } };
  await handOff(inbound, (await inbound.firings(one))[0]?.agentId, "agents/one");
  inbound.setClock("2026-03-02T08:01:00Z");
  await inbound.deliver("pull_request", opened(2, ownBranch));
  const [first, second] = await inbound.firings(one);
  expect(second).toMatchObject({ status: "skipped", causedBy: first?.id });
  expect(second?.reason).toBe(`It caused this event itself: one (${first?.id}).`);
  const [, answer] = await inbound.firings(two);
  expect(answer).toMatchObject({ status: "started", causedBy: first?.id });
  await handOff(inbound, answer?.agentId, "agents/two");
  inbound.setClock("2026-03-02T08:02:00Z");
  await inbound.deliver("pull_request", opened(3, { head: { ref: "agents/two", repo: { id: 1 } } }));
  for (const automation of [one, two]) {
    const last = (await inbound.firings(automation)).at(-1);
    expect(last?.status).toBe("skipped");
    expect(last?.reason).toBe(`It caused this event itself: two (${answer?.id}), caused by one (${first?.id}).`);
  }
});

test("an event of another team learns nothing about the automation that caused it", async () => {
  const inbound = await openInbound();
  const { platform } = inbound.fixture;
  const one = await inbound.create(definition("pull_request.opened", { name: "the name of a team's automation" }));
  await inbound.deliver("pull_request", opened(1));
  await handOff(inbound, (await inbound.firings(one))[0]?.agentId, "agents/one");
  const owner = { kind: "user", email: "stranger@example.com" } as const;
  const { id: keyId } = await platform.principals.createKey({
    ...{ name: "k", team: "strangers", owner, scopes: null, expiresAt: null },
  });
  const stranger = await platform.principals.find(keyId);
  if (stranger?.kind !== "user") return expect.fail("no user");
  const { teamId, userId } = stranger;
  const key = await teamKey(platform.db, platform.vault, teamId);
  const { source } = await insertSource(platform.db, { teamId, name: "theirs", key });
  const made = {
    ...CreateAutomation.parse({ name: "n", prompt: { text: "p" }, ...definition("pull_request.opened") }),
  };
  const now = inbound.host.now();
  const theirs = await platform.db
    .transaction()
    .execute((tx) => insertAutomation(tx, { ...made, teamId, userId, key }, now));
  const payload = opened(2, { head: { ref: "agents/one", repo: { id: 1 } } });
  await deliver({ harness: inbound, source }, { name: "pull_request", payload });
  const [firing] = await inbound.firings(theirs);
  expect(firing).toMatchObject({ status: "started" });
  expect(firing).not.toHaveProperty("causedBy");
});

test("a signed delivery is stored; without the right signature, a name or JSON it is refused", async () => {
  const server = await testServer({ roles: ["api"] });
  try {
    const admin = await server.key();
    const created = await server.call(admin, "POST", "/v1/event-sources", { type: "github", name: "shop" });
    expect(created.status).toBe(201);
    const { id, url, secret } = created.body as { id: string; url: string; secret: string };
    expect((await server.call(admin, "GET", "/v1/event-sources")).body).toEqual({
      items: [{ id, type: "github", name: "shop", url, createdAt: expect.any(String) }],
    });
    const send = async (body: string, headers: Record<string, string> = {}) => {
      const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
      const given = { "x-hub-signature-256": signature, "x-github-event": "ping", "x-github-delivery": "d-1" };
      const answer = await fetch(url, { method: "POST", body, headers: { ...given, ...headers } });
      return [answer.status, await answer.json()];
    };
    expect(await send("{}")).toEqual([202, { received: true, duplicate: false }]);
    expect(await send("{}")).toEqual([202, { received: true, duplicate: true }]);
    const wrong = `sha256=${"0".repeat(64)}`;
    for (const signature of [wrong, "", "sha1=0", wrong.toUpperCase()])
      expect((await send("{}", { "x-hub-signature-256": signature }))[0]).toBe(401);
    expect((await send("{}", { "x-github-delivery": "" }))[0]).toBe(400);
    expect((await send("not JSON"))[0]).toBe(400);
    const stranger = await server.key({ team: "strangers" });
    expect((await server.call(stranger, "GET", "/v1/event-sources")).body).toEqual({ items: [] });
    expect((await server.call(stranger, "DELETE", `/v1/event-sources/${id}`)).status).toBe(404);
    expect((await server.call(admin, "DELETE", `/v1/event-sources/${id}`)).status).toBe(200);
    expect((await send("{}"))[0]).toBe(401);
  } finally {
    await server.close();
  }
});
