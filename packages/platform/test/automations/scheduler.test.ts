// Firings of schedules: planned ahead, never early, one record each, whatever happens to the server.
import { expect, test } from "vitest";
import { listAlerts, raiseOverdueAlerts } from "../../src/automations/alerts.ts";
import { disableAutomation, enableAutomation } from "../../src/automations/store.ts";
import { type AutomationHarness, openAutomationHarness } from "./automation-harness.ts";

const hourly = { triggers: [{ type: "cron", cron: "@hourly" }] };

const summary = async (harness: AutomationHarness, automation: { id: string }) =>
  (await harness.firings(automation)).map(({ plannedAt, status }) => `${plannedAt.slice(11, 16)} ${status}`);

const alertsOf = async ({ host }: AutomationHarness, { id }: { id: string }) =>
  (await listAlerts(host.platform.db, id, { limit: 50, after: null })).map(
    ({ kind, message }) => `${kind}: ${message}`,
  );

test("the next firing has a record before its time, and starts one run at its time and not before", async () => {
  const harness = await openAutomationHarness("2026-05-01T09:30:00Z");
  const automation = await harness.create(hourly);
  expect(await summary(harness, automation)).toEqual(["10:00 planned"]);
  harness.setClock("2026-05-01T09:59:59.999Z");
  await harness.look();
  expect(await summary(harness, automation)).toEqual(["10:00 planned"]);
  harness.setClock("2026-05-01T10:00:00Z");
  await harness.look();
  await harness.look();
  expect(await summary(harness, automation)).toEqual(["10:00 started", "11:00 planned"]);
  expect(await harness.countRuns()).toBe(1);
});

test.each([
  ["catch_up", ["10:00 skipped", "11:00 skipped", "12:00 started", "13:00 planned"], 0],
  ["skip", ["10:00 missed", "11:00 missed", "12:00 missed", "13:00 planned"], 0],
  ["alert", ["10:00 missed", "11:00 missed", "12:00 missed", "13:00 planned"], 2],
])("after a downtime every firing has a record, and %s says which run", async (missed, expected, alerts) => {
  const harness = await openAutomationHarness("2026-05-01T09:30:00Z");
  const automation = await harness.create({ ...hourly, missed });
  harness.setClock("2026-05-01T12:40:00Z");
  await harness.look();
  expect(await summary(harness, automation)).toEqual(expected);
  expect(await harness.countRuns()).toBe(missed === "catch_up" ? 1 : 0);
  expect(await alertsOf(harness, automation)).toHaveLength(alerts);
});

test("a firing that is a few minutes late starts, whatever the policy", async () => {
  const harness = await openAutomationHarness("2026-05-01T09:30:00Z");
  const automation = await harness.create({ ...hourly, missed: "skip" });
  harness.setClock("2026-05-01T10:09:00Z");
  await harness.look();
  expect(await summary(harness, automation)).toEqual(["10:00 started", "11:00 planned"]);
});

test("a downtime of two weeks leaves a record for each of the firings", async () => {
  const harness = await openAutomationHarness("2026-05-01T00:00:00Z");
  const automation = await harness.create({ triggers: [{ type: "cron", cron: "*/15 * * * *" }] });
  harness.setClock("2026-05-15T00:00:00Z");
  await harness.look();
  const firings = await harness.firings(automation);
  expect(firings).toHaveLength(14 * 96 + 1);
  expect(new Set(firings.map(({ plannedAt }) => plannedAt)).size).toBe(firings.length);
  expect(firings.slice(-3).map(({ status }) => status)).toEqual(["skipped", "started", "planned"]);
  expect(await harness.countRuns()).toBe(1);
});

test("a disabled automation starts nothing, says why, and plans again when it is enabled", async () => {
  const harness = await openAutomationHarness("2026-05-01T09:30:00Z");
  const automation = await harness.create(hourly);
  const { db } = harness.host.platform;
  const now = harness.host.now();
  await db.transaction().execute((tx) => disableAutomation(tx, { id: automation.id, reason: "Too expensive.", now }));
  expect(await harness.firings(automation)).toMatchObject([
    { status: "skipped", reason: "The automation is disabled: Too expensive." },
  ]);
  await db.transaction().execute((tx) => enableAutomation(tx, automation.id, now));
  expect(await summary(harness, automation)).toEqual(["10:00 planned"]);
  harness.setClock("2026-05-01T10:00:00Z");
  await harness.look();
  expect(await summary(harness, automation)).toEqual(["10:00 started", "11:00 planned"]);
});

test("a firing that no server starts raises an alarm, once", async () => {
  const harness = await openAutomationHarness("2026-05-01T09:30:00Z");
  const automation = await harness.create(hourly);
  const { db } = harness.host.platform;
  await raiseOverdueAlerts(db, new Date("2026-05-01T10:00:00Z"));
  expect(await alertsOf(harness, automation)).toEqual([]);
  for (const _ of [1, 2]) await raiseOverdueAlerts(db, new Date("2026-05-01T10:00:01Z"));
  expect(await alertsOf(harness, automation)).toEqual([
    "overdue: Planned for 2026-05-01 10:00:00 UTC, and no run has started. Look at the servers with the role scheduler: platform doctor",
  ]);
});

test("an automation of a removed user stops and says so", async () => {
  const harness = await openAutomationHarness("2026-05-01T09:30:00Z");
  const automation = await harness.create(hourly);
  const { db } = harness.host.platform;
  await db.updateTable("users").set({ removed_at: new Date() }).execute();
  harness.setClock("2026-05-01T10:00:00Z");
  await harness.look();
  expect(await harness.firings(automation)).toMatchObject([
    {
      status: "skipped",
      reason: "Its user was removed from the team, or has proved their address since it was created.",
    },
    { status: "skipped" },
  ]);
  const row = await db.selectFrom("automations").selectAll().executeTakeFirstOrThrow();
  expect(row).toMatchObject({
    enabled: false,
    disabled_reason: "Its user was removed from the team, or has proved their address since it was created.",
  });
  expect(await alertsOf(harness, automation)).toEqual([
    "disabled: Disabled. Its user was removed from the team, or has proved their address since it was created.",
  ]);
});

test("a firing whose run is refused says why, and raises an alert", async () => {
  const harness = await openAutomationHarness("2026-05-01T09:30:00Z");
  const automation = await harness.create({ ...hourly, model: { id: "gone" } });
  harness.setClock("2026-05-01T10:00:00Z");
  await harness.look();
  expect(await harness.firings(automation)).toMatchObject([
    { status: "failed", reason: "model.id: unknown model gone. Available: practice." },
    { status: "planned" },
  ]);
  expect(await alertsOf(harness, automation)).toEqual([
    "failed_to_start: The run could not start. model.id: unknown model gone. Available: practice.",
  ]);
});
