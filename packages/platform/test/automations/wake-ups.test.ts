// Wake-ups of agents: they act for who subscribed, keep to the limits of the automation, end in loops, and do not pile up.
import { expect, test } from "vitest";
import { fire } from "../../src/automations/firings/fire.ts";
import { recordHostEvent } from "../../src/automations/inbound/own-host.ts";
import { processEvents } from "../../src/automations/inbound/process.ts";
import { openMemories } from "../../src/automations/memories/store.ts";
import { automationRetention } from "../../src/automations/retention.ts";
import { deleteAutomation } from "../../src/automations/store.ts";
import { claimWakeUp, giveUpAgents } from "../../src/automations/subscriptions/batches.ts";
import { listSubscriptions } from "../../src/automations/subscriptions/store.ts";
import { subscribe } from "../../src/automations/subscriptions/subscribe.ts";
import { wakeAgents } from "../../src/automations/subscriptions/wake.ts";
import { teamKey } from "../../src/foundation/vault/index.ts";
import { type AutomationHarness, openAutomationHarness } from "./automation-harness.ts";

const repoUrl = "https://git.example.com/acme/shop";
const start = "2026-03-02T08:00:00Z";
const at = (seconds: number) => new Date(Date.parse(start) + seconds * 1000).toISOString();

async function subscribeAgent(harness: AutomationHarness, agentId: string, actsAs: string | null = null) {
  const { host, fixture } = harness;
  const pull = { number: 7, head: "topic", url: `${repoUrl}/pull/7` };
  const sources = { open: async () => ({ pullRequests: { read: async () => pull } }) as never };
  const agent = { id: agentId, team_id: fixture.principal.teamId, settings: { repos: [{ url: repoUrl }] } };
  const events: "comments"[] = ["comments"];
  const filter = { source: "source_host" as const, repoUrl, pullRequest: 7, events };
  const request = { agent, filter, days: 180, createdBy: "ada", actsAs };
  return subscribe({ ...host, sources }, request, new AbortController().signal);
}

async function comment({ fixture, host }: AutomationHarness, sender: string, body = "please"): Promise<void> {
  const { platform, principal } = fixture;
  const issue = { number: 7, html_url: `${repoUrl}/pull/7`, pull_request: {} };
  const shared = { repository: { html_url: repoUrl }, sender: { login: sender, type: "User" } };
  const payload = { action: "created", comment: { body }, issue, ...shared };
  await recordHostEvent(platform.vault)(platform.db, { teamId: principal.teamId, name: "issue_comment", payload });
  await processEvents(host);
}

const endRuns = ({ fixture }: AutomationHarness) =>
  fixture.platform.db.updateTable("runs").set({ status: "FINISHED" }).execute();

const runsOf = ({ fixture }: AutomationHarness, agentId: string) =>
  fixture.platform.db.selectFrom("runs").selectAll().where("agent_id", "=", agentId).orderBy("number").execute();

const skippedReason = async ({ fixture }: AutomationHarness, agentId: string) =>
  (await listSubscriptions(fixture.platform.db, agentId))[0]?.skipped_reason;

test("two subscribed agents that answer each other are woken five times, and the record names the chain", async () => {
  const harness = await openAutomationHarness(start);
  const [one, two] = [(await harness.fixture.newAgent()).agentId, (await harness.fixture.newAgent()).agentId];
  for (const agentId of [one, two]) await subscribeAgent(harness, agentId);
  await endRuns(harness);
  let [writer, reader] = [one, two];
  await comment(harness, `agent:${writer}`);
  let rounds = 0;
  for (; rounds < 20; rounds += 1) {
    harness.setClock(at((rounds + 1) * 60));
    const before = (await runsOf(harness, reader)).length;
    await wakeAgents(harness.host);
    if ((await runsOf(harness, reader)).length === before) break;
    [writer, reader] = [reader, writer];
    await comment(harness, `agent:${writer}`);
    await endRuns(harness);
  }
  expect(rounds).toBe(4);
  const chain = [one, two, one, two, one].map((id) => `agent ${id}`).join(", caused by ");
  expect(await skippedReason(harness, two)).toBe(
    `5 agents in a row woke each other, and no person in between: ${chain}.`,
  );
  await comment(harness, "ada");
  harness.setClock(at(3600));
  await wakeAgents(harness.host);
  expect(await runsOf(harness, two)).toHaveLength(4);
});

/** An agent that the automation started, and that waits for comments. */
async function startWaiting(limits: object) {
  const harness = await openAutomationHarness(start);
  const automation = await harness.create({ triggers: [{ type: "webhook" }], limits });
  const request = { source: "manual", triggerId: null, payload: null, idempotencyKey: null, skipReason: null } as const;
  const { agent_id: agentId } = await fire(harness.host, automation, request);
  await subscribeAgent(harness, agentId);
  await endRuns(harness);
  return { ...harness, automation, agentId, request };
}

test("a wake-up beyond the starts of an hour is not started: the subscription says why, and the owner is alerted", async () => {
  const waiting = await startWaiting({ startsPerHour: 2 });
  for (const [minute, runs] of [2, 2].entries()) {
    await comment(waiting, "ada");
    waiting.setClock(at((minute + 1) * 60));
    await wakeAgents(waiting.host);
    await endRuns(waiting);
    expect(await runsOf(waiting, waiting.agentId)).toHaveLength(runs);
  }
  expect(await skippedReason(waiting, waiting.agentId)).toMatch(/^It has started 2 times within an hour/);
  const alerts = await waiting.fixture.platform.db
    .selectFrom("automation_alerts")
    .select(["kind", "message"])
    .execute();
  expect(alerts).toEqual([
    { kind: "limit_reached", message: expect.stringMatching(/^An agent was not woken\. It has/) },
  ]);
});

test("a wake-up waits while as many runs are active as may be, counts for the day, and may cost what a run may", async () => {
  const waiting = await startWaiting({ concurrent: 1, usdPerRun: "2", usdPerDay: "4" });
  const { fixture, host, automation, agentId, request } = waiting;
  const { db, vault } = fixture.platform;
  const other = await fire(host, automation, request);
  await comment(waiting, "ada");
  waiting.setClock(at(60));
  await wakeAgents(host);
  expect(await runsOf(waiting, agentId)).toHaveLength(1);
  await db.updateTable("runs").set({ status: "FINISHED", cost_usd: "0.5" }).where("id", "=", other.run_id).execute();
  waiting.setClock(at(120));
  await wakeAgents(host);
  const [, woken] = await runsOf(waiting, agentId);
  const { data_key } = await db
    .selectFrom("agents")
    .select("data_key")
    .where("id", "=", agentId)
    .executeTakeFirstOrThrow();
  const opened = (await vault.unwrap(data_key)).openText(woken?.request ?? Buffer.alloc(0), `request:${woken?.id}`);
  expect(JSON.parse(opened)).toMatchObject({ budgetUsd: 2 });
  await db
    .updateTable("runs")
    .set({ status: "FINISHED", cost_usd: "2" })
    .where("id", "=", woken?.id ?? "")
    .execute();
  const refused = await fire(host, automation, request);
  expect([refused.status, refused.reason]).toEqual(["skipped", expect.stringContaining("limits.usdPerDay")]);
});

test("an event that waits for a wake-up which is not there wakes the agent", async () => {
  const harness = await openAutomationHarness(start);
  const { agentId } = await harness.fixture.newAgent();
  await subscribeAgent(harness, agentId);
  await endRuns(harness);
  await comment(harness, "ada");
  const { db } = harness.fixture.platform;
  await db.updateTable("subscription_events").set({ batch_id: "wake-lost" }).execute();
  harness.setClock(at(60));
  await wakeAgents(harness.host);
  expect(await runsOf(harness, agentId)).toHaveLength(2);
  // A server that crashed has created the run, and not noted it.
  await db.updateTable("subscription_events").set({ run_id: null }).execute();
  await db.deleteFrom("wake_ups").execute();
  await endRuns(harness);
  await wakeAgents(harness.host);
  expect(await runsOf(harness, agentId)).toHaveLength(2);
});

test.each([
  ["before its agent is woken", true],
  ["while its agent is woken", false],
])("an automation that is deleted %s ends what the agent waits for", async (_name, isBefore) => {
  const waiting = await startWaiting({});
  const { fixture, host, automation, agentId } = waiting;
  const { db } = fixture.platform;
  await comment(waiting, "ada");
  waiting.setClock(at(60));
  if (!isBefore) await claimWakeUp(host, agentId);
  await db.transaction().execute(async (tx) => {
    if (isBefore) await giveUpAgents(tx, automation.id);
    await deleteAutomation(tx, automation.id);
  });
  await wakeAgents(host);
  expect(await runsOf(waiting, agentId)).toHaveLength(1);
  expect(await listSubscriptions(db, agentId)).toMatchObject([
    { status: "cancelled", ended_reason: "The agent could not be woken. Its automation was deleted." },
  ]);
});

test("a wake-up acts for the teammate who subscribed, not for the owner of the agent", async () => {
  const harness = await openAutomationHarness(start);
  const { platform, newAgent } = harness.fixture;
  const owner = { kind: "user", email: "teammate@example.com" } as const;
  const key = await platform.principals.createKey({ name: "k", team: "default", owner, scopes: null, expiresAt: null });
  const teammate = await platform.principals.find(key.id);
  if (teammate?.kind !== "user") return expect.fail("no user");
  const { agentId } = await newAgent();
  const { id } = await subscribeAgent(harness, agentId, `user:${teammate.userId}`);
  const { id: ownId } = await subscribeAgent(harness, agentId);
  await endRuns(harness);
  await comment(harness, "ada");
  harness.setClock(at(60));
  for (const _ of [id, ownId]) {
    await wakeAgents(harness.host);
    await endRuns(harness);
  }
  // Teammates may send no follow-ups here: what they could not do themselves, a subscription of theirs does not do either.
  expect(await runsOf(harness, agentId)).toHaveLength(2);
  const subscriptions = new Map((await listSubscriptions(platform.db, agentId)).map((row) => [row.id, row]));
  const ended_reason = expect.stringContaining("could not be woken");
  expect(subscriptions.get(id)).toMatchObject({ status: "cancelled", ended_reason, wake_ups: 0 });
  expect(subscriptions.get(ownId)).toMatchObject({ status: "active", wake_ups: 1 });
});

async function removeDue({ fixture }: AutomationHarness): Promise<void> {
  for (const rule of automationRetention(fixture.platform.db, 90)) for await (const _ of rule.remove());
}

test("no more than 500 events wait for an agent, and those that were delivered are removed in time", async () => {
  const harness = await openAutomationHarness(start);
  const { db } = harness.fixture.platform;
  const { agentId } = await harness.fixture.newAgent();
  const { id } = await subscribeAgent(harness, agentId);
  const waiting = Array.from({ length: 500 }, (_, index) => ({
    ...{
      subscription_id: id,
      agent_id: agentId,
      event_id: `e${index}`,
      entry: Buffer.from(""),
      created_at: new Date(start),
    },
  }));
  await db.insertInto("subscription_events").values(waiting).execute();
  await comment(harness, "ada");
  expect(await skippedReason(harness, agentId)).toBe("500 events wait for the agent already.");
  const count = async () => (await db.selectFrom("subscription_events").select("event_id").execute()).length;
  expect(await count()).toBe(500);
  const delivered = await db
    .updateTable("subscription_events")
    .set({ run_id: "run-1" })
    .where("event_id", "<", "e3")
    .executeTakeFirst();
  const left = 500 - Number(delivered.numUpdatedRows);
  await db
    .updateTable("subscriptions")
    .set({ status: "done", created_at: new Date("2020-01-01") })
    .execute();
  await db
    .updateTable("subscription_events")
    .set({ created_at: new Date("2020-01-01") })
    .execute();
  await removeDue(harness);
  expect(await count()).toBe(left);
  expect(await listSubscriptions(db, agentId)).toHaveLength(1);
  await db.deleteFrom("subscription_events").execute();
  await removeDue(harness);
  expect(await listSubscriptions(db, agentId)).toEqual([]);
});

test("the history of memories is bounded, whatever names an agent invents; what is current stays", async () => {
  const harness = await openAutomationHarness(start);
  const { db, vault } = harness.fixture.platform;
  const automation = await harness.create({ triggers: [{ type: "webhook" }] });
  const key = await teamKey(db, vault, harness.fixture.principal.teamId);
  const memories = openMemories({ db, key, automationId: automation.id });
  await memories.write("keep.md", { text: "kept", author: "ada" });
  const text = "x".repeat(64 * 1024);
  for (let index = 0; index < 140; index += 1) {
    await memories.write(`note-${index}.md`, { text, author: "agent" });
    await memories.remove(`note-${index}.md`, "agent");
  }
  const { bytes } = await db
    .selectFrom("automation_memories")
    .select(({ fn }) => fn.sum<string>("bytes").as("bytes"))
    .executeTakeFirstOrThrow();
  expect(Number(bytes)).toBeLessThan(8.2 * 1024 * 1024);
  expect(await memories.list()).toMatchObject([{ name: "keep.md" }]);
  expect((await memories.history("note-139.md")).map((version) => version.text?.length)).toEqual([
    undefined,
    text.length,
  ]);
  expect(await memories.history("note-0.md")).toEqual([]);
});

test("an agent whose firing was removed by the retention still keeps to the limits of its automation, and ends with it", async () => {
  const harness = await openAutomationHarness(start);
  const { host, fixture } = harness;
  const { db } = fixture.platform;
  const automation = await harness.create({ triggers: [{ type: "webhook" }], limits: { startsPerHour: 1 } });
  const request = { source: "manual", triggerId: null, payload: null, idempotencyKey: null, skipReason: null } as const;
  const { agent_id: agentId } = await fire(host, automation, request);
  await endRuns(harness);
  await subscribeAgent(harness, agentId);
  const old = new Date(Date.now() - 91 * 86_400_000);
  await db.updateTable("automation_firings").set({ planned_at: old, decided_at: old }).execute();
  for (const rule of automationRetention(db, 90)) for await (const _ of rule.remove());
  expect(await harness.firings(automation)).toEqual([]);
  await comment(harness, "ada");
  harness.setClock(at(60));
  await wakeAgents(host);
  await endRuns(harness);
  expect(await runsOf(harness, agentId)).toHaveLength(2);
  await comment(harness, "ada", "and again");
  harness.setClock(at(120));
  await wakeAgents(host);
  expect(await runsOf(harness, agentId)).toHaveLength(2);
  expect(await skippedReason(harness, agentId)).toMatch(/limits\.startsPerHour is 1/);
  await db.transaction().execute((tx) => giveUpAgents(tx, automation.id));
  expect((await listSubscriptions(db, agentId))[0]?.status).not.toBe("active");
});
