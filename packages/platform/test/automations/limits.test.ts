// Limits of automations: runs at a time, starts per hour, cost per run and per day.
import type { RunStatus } from "@agentcli/protocol/api";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { insertAgent } from "../../src/agents/submit/insert.ts";
import { listAlerts, raiseOverdueAlerts, raiseRunAlert } from "../../src/automations/alerts.ts";
import { cancelRunsOf } from "../../src/automations/firings/admit.ts";
import { fire } from "../../src/automations/firings/fire.ts";
import { startDueFirings } from "../../src/automations/firings/scheduler.ts";
import { recordOutcome } from "../../src/automations/firings/store.ts";
import type { AutomationRow } from "../../src/automations/store.ts";
import { type AutomationHarness, openAutomationHarness } from "./automation-harness.ts";

const start = "2026-05-01T09:30:00Z";
const webhook = { triggers: [{ type: "webhook" }] };

async function openLimited(limits: object): Promise<AutomationHarness & { automation: AutomationRow }> {
  const harness = await openAutomationHarness(start);
  return { ...harness, automation: await harness.create({ ...webhook, limits }) };
}

const request = { source: "manual", triggerId: null, payload: null, idempotencyKey: null, skipReason: null } as const;
const fireNow = ({ host, automation }: { host: AutomationHarness["host"]; automation: AutomationRow }) =>
  fire(host, automation, request);

/** As a runner does; no server runs here. */
const endRun = ({ host }: AutomationHarness, runId: string | null, cost = "0", status: RunStatus = "FINISHED") =>
  host.platform.db
    .updateTable("runs")
    .set({ status, cost_usd: cost })
    .where("id", "=", runId ?? "")
    .execute();

const cancelled = async ({ host }: AutomationHarness): Promise<string[]> => {
  const rows = host.platform.db.selectFrom("runs").select("id").where("cancel_requested_at", "is not", null);
  return (await rows.execute()).map(({ id }) => id);
};

test("a firing waits while as many runs are active as may be, says so, and starts when one has ended", async () => {
  const harness = await openLimited({ concurrent: 1 });
  const { host, automation } = harness;
  const first = await fireNow(harness);
  const second = await fireNow(harness);
  expect([first.status, second.status, second.reason]).toEqual([
    "started",
    "planned",
    "Waits: 1 of 1 runs are active.",
  ]);
  harness.setClock("2026-05-01T10:30:00Z");
  await harness.look();
  expect(await harness.countRuns()).toBe(1);
  await raiseOverdueAlerts(host.platform.db, new Date("2026-05-01T10:20:00Z"));
  expect(await listAlerts(host.platform.db, automation.id, { limit: 5, after: null })).toEqual([]);
  await endRun(harness, first.run_id);
  harness.setClock("2026-05-01T10:31:00Z");
  await harness.look();
  expect(await harness.firings(automation)).toMatchObject([{ status: "started" }, { status: "started" }]);
  expect((await harness.firings(automation))[1]?.reason).toBeUndefined();
});

test("however many firings wait, a look of the scheduler asks the limits once, and they start in their order", async () => {
  const harness = await openLimited({ concurrent: 1 });
  const { automation } = harness;
  const first = await fireNow(harness);
  const look = async (instant: string): Promise<number> => {
    harness.setClock(instant);
    return countQueries(harness);
  };
  await fireNow(harness);
  const withOne = await look("2026-05-01T09:31:00Z");
  for (let second = 10; second < 30; second += 1) {
    harness.setClock(`2026-05-01T09:31:${second}Z`);
    await fireNow(harness);
  }
  expect(await look("2026-05-01T09:32:00Z")).toBe(withOne);
  // They wait for the same time now.
  expect(await look("2026-05-01T09:32:01Z")).toBe(1);
  await endRun(harness, first.run_id);
  await look("2026-05-01T09:33:00Z");
  const statuses = (await harness.firings(automation)).map(({ status }) => status);
  expect(statuses).toEqual(["started", "started", ...Array.from({ length: 20 }, () => "planned")]);
});

/** How many queries one look of the scheduler makes. */
async function countQueries({ host }: AutomationHarness): Promise<number> {
  let count = 0;
  const db = host.platform.db.withPlugin({
    transformQuery({ node }) {
      count += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  await startDueFirings({ ...host, platform: { ...host.platform, db } });
  return count;
}

test("with drop, a firing while a run is active is skipped with the reason", async () => {
  const harness = await openLimited({ concurrent: 1, whenBusy: "drop" });
  await fireNow(harness);
  expect(await fireNow(harness)).toMatchObject({ status: "skipped", reason: "1 of 1 runs are active." });
});

test("with replace, the oldest run is cancelled for the firing, and its record says so", async () => {
  const harness = await openLimited({ concurrent: 2, whenBusy: "replace" });
  const first = await fireNow(harness);
  harness.setClock("2026-05-01T09:31:00Z");
  await fireNow(harness);
  const third = await fireNow(harness);
  expect(third.status).toBe("started");
  expect(await cancelled(harness)).toEqual([first.run_id]);
  expect((await harness.firings(harness.automation))[0]?.reason).toBe(
    `Its run was cancelled: the firing ${third.id} replaced it.`,
  );
});

test("ten firings at once start as many runs as may be active, and the others wait", async () => {
  const harness = await openLimited({ concurrent: 3 });
  const firings = await Promise.all(Array.from({ length: 10 }, () => fireNow(harness)));
  expect(firings.map(({ status }) => status).sort()).toEqual([
    ...Array.from({ length: 7 }, () => "planned"),
    ...Array.from({ length: 3 }, () => "started"),
  ]);
  expect(await harness.countRuns()).toBe(3);
});

test("more starts than allowed within an hour are skipped and raise an alert", async () => {
  const harness = await openLimited({ startsPerHour: 2 });
  for (const _ of [1, 2]) expect((await fireNow(harness)).status).toBe("started");
  const reason = "It has started 2 times within an hour; limits.startsPerHour is 2.";
  expect(await fireNow(harness)).toMatchObject({ status: "skipped", reason });
  const { db } = harness.host.platform;
  expect(await listAlerts(db, harness.automation.id, { limit: 5, after: null })).toMatchObject([
    { kind: "limit_reached", message: `Skipped. ${reason}` },
  ]);
  harness.setClock("2026-05-01T10:31:00Z");
  expect((await fireNow(harness)).status).toBe("started");
});

test("a run that may not fit into the budget of the day does not start; what is not spent is free again", async () => {
  const harness = await openLimited({ usdPerRun: "2", usdPerDay: "5" });
  const [first] = [await fireNow(harness), await fireNow(harness)];
  expect(await fireNow(harness)).toMatchObject({
    status: "skipped",
    reason: "Runs of today have cost, or may still cost, 4.000000 USD; limits.usdPerDay is 5, and each run may cost 2.",
  });
  await endRun(harness, first.run_id, "0.75");
  expect((await fireNow(harness)).status).toBe("started");
  expect((await fireNow(harness)).status).toBe("skipped");
  harness.setClock("2026-05-02T00:00:01Z");
  expect((await fireNow(harness)).status).toBe("started");
});

test("a run that is active over midnight counts for the day on which it started", async () => {
  const harness = await openLimited({ usdPerDay: "1.50" });
  await fireNow(harness);
  expect((await fireNow(harness)).status).toBe("skipped");
  harness.setClock("2026-05-02T00:30:00Z");
  expect((await fireNow(harness)).status).toBe("started");
});

/** A run of an agent that another team creates under the id of a firing's agent, which was deleted. */
async function takeId({ fixture: { platform } }: AutomationHarness, agentId: string): Promise<string> {
  await platform.db.deleteFrom("agents").where("id", "=", agentId).execute();
  const owner = { kind: "user", email: "other@example.com" } as const;
  const named = { name: "other", team: "other", owner, scopes: null, expiresAt: null };
  const known = await platform.principals.authenticate(`Bearer ${(await platform.principals.createKey(named)).key}`);
  if (known.kind === "refused") throw new Error(known.reason);
  const requester = { principal: known.principal, requestId: "request", source: "API" };
  const body = { agentId, prompt: { text: "do it" } };
  return (await platform.db.transaction().execute((tx) => insertAgent({ tx, platform, requester }, body))).runId;
}

test("what another team does with an agent under the id of a deleted one counts for no firing", async () => {
  const harness = await openLimited({ concurrent: 1, usdPerDay: "5" });
  const { automation, host } = harness;
  const { db } = host.platform;
  const first = await fireNow(harness);
  const runId = await takeId(harness, first.agent_id ?? expect.fail("no agent"));
  await db.transaction().execute((tx) => cancelRunsOf(tx, automation.id));
  expect(await cancelled(harness)).toEqual([]);
  // It is active, and then costs more than the automation may.
  const second = await fireNow(harness);
  expect(second.status).toBe("started");
  await endRun(harness, second.run_id);
  await endRun(harness, runId, "9", "ERROR");
  expect((await fireNow(harness)).status).toBe("started");
  await sql`
    with fence as (select id, agent_id, team_id from runs where id = ${runId}),
    firings as (${recordOutcome("ERROR")}), alerts as (${raiseRunAlert("ERROR", new Date(start))})
    select from fence
  `.execute(db);
  expect((await harness.firings(automation)).map(({ runStatus }) => runStatus)).not.toContain("ERROR");
  expect(await listAlerts(db, automation.id, { limit: 5, after: null })).toEqual([]);
});
