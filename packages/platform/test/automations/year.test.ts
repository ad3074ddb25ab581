// A year of schedules in forty time zones, with a server that is down at random times.
import fc from "fast-check";
import { expect, test } from "vitest";
import { readSchedule } from "../../src/automations/schedule.ts";
import { type AutomationHarness, openAutomationHarness } from "./automation-harness.ts";
import { changesOf, expectedFirings, type Period } from "./schedule-oracle.ts";

const zones =
  `Africa/Cairo Africa/Casablanca Africa/El_Aaiun Africa/Lagos America/Adak America/Anchorage America/Asuncion
  America/Chicago America/Halifax America/Havana America/Los_Angeles America/Mexico_City America/Miquelon
  America/New_York America/Nuuk America/Santiago America/Sao_Paulo America/St_Johns Antarctica/Troll Asia/Beirut
  Asia/Gaza Asia/Jerusalem Asia/Kathmandu Asia/Kolkata Asia/Tokyo Atlantic/Azores Australia/Adelaide
  Australia/Brisbane Australia/Eucla Australia/Lord_Howe Australia/Sydney Europe/Berlin Europe/Chisinau Europe/Dublin
  Europe/London Pacific/Auckland Pacific/Chatham Pacific/Easter Pacific/Norfolk UTC`.split(/\s+/);

const year: Period = { from: new Date("2026-01-01T00:00:00Z"), to: new Date("2027-01-01T00:00:00Z") };
const hourMs = 3_600_000;

const list = (min: number, max: number) =>
  fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 3 }).map((values) => values.join(","));
const span = (min: number, max: number) =>
  fc
    .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
    .map((ends) => `${Math.min(...ends)}-${Math.max(...ends)}`);
const minutes = fc.oneof(list(0, 59), fc.constantFrom("0", "30", "*/15", "*/30", "10-40/10"));
const hours = fc.oneof(fc.constantFrom("*", "*/2", "*/6", "2", "0-3"), list(0, 23), list(0, 3), span(0, 23));
const days = fc.oneof({ weight: 3, arbitrary: fc.constant("*") }, list(1, 28), fc.constant("29-31"));
const weekdays = fc.oneof({ weight: 3, arbitrary: fc.constant("*") }, list(0, 6), fc.constantFrom("1-5", "sun"));
const expression = fc
  .tuple(minutes, hours, days, fc.constantFrom("*", "*", "3,4,9-11"), weekdays)
  .map((all) => all.join(" "));

function firingsOf(cron: string, timezone: string, { from, to }: Period): string[] {
  const read = readSchedule(cron, timezone);
  if (read.kind === "invalid") throw new Error(read.problem);
  const found: string[] = [];
  for (let at = read.schedule.nextAfter(from); at !== null && at <= to; at = read.schedule.nextAfter(at))
    found.push(at.toISOString());
  return found;
}

/** Two days on each side of every change of the clocks, and of one day without any. */
const periodsOf = (timezone: string): Period[] =>
  [...changesOf(timezone, year), new Date("2026-06-15T12:00:00Z")].map((change) => ({
    from: new Date(change.getTime() - 48 * hourMs),
    to: new Date(change.getTime() + 48 * hourMs),
  }));

test.each(zones)("schedules in %s fire when a second reading of them says, also where clocks change", (timezone) => {
  const periods = periodsOf(timezone);
  fc.assert(
    fc.property(expression, (cron) => {
      for (const period of periods)
        expect(firingsOf(cron, timezone, period)).toEqual(expectedFirings(cron, timezone, period));
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 5) },
  );
});

const policies = ["catch_up", "skip", "alert"];
const schedules = ["30 2 * * *", "0,30 1 * * *", "0 9 * * 1-5", "15 0 1,15 * *", "0 */12 * * *", "@weekly"];
const chosen = process.env.SWEEP === "full" ? zones : zones.filter((_, index) => index % 8 === 3);

test("in a year with downtimes every planned firing has one record and at most one run, and none is early", {
  timeout: 1_800_000,
}, async () => {
  const harness = await openAutomationHarness(year.from.toISOString());
  const automations = await Promise.all(
    chosen.map(async (timezone, index) => {
      const cron = schedules[index % schedules.length] ?? "";
      const definition = { name: timezone, missed: policies[index % 3], triggers: [{ type: "cron", cron, timezone }] };
      return { timezone, cron: cron === "@weekly" ? "0 9 * * 1" : cron, row: await harness.create(definition) };
    }),
  );
  const looks = fc.sample(fc.integer({ min: 1, max: 14 * 24 * 60 }), { numRuns: 200 });
  const end = await lookThroughTheYear(harness, looks);
  let started = 0;
  for (const { timezone, cron, row } of automations) {
    const firings = await harness.firings(row);
    const expected = expectedFirings(cron, timezone, { from: year.from, to: end });
    expect(
      firings.slice(0, -1).map(({ plannedAt }) => plannedAt),
      timezone,
    ).toEqual(expected);
    expect(firings.at(-1)?.status, timezone).toBe("planned");
    expect(
      firings.slice(0, -1).every(({ status }) => status !== "planned"),
      timezone,
    ).toBe(true);
    started += firings.filter(({ status }) => status === "started").length;
  }
  expect(await harness.countRuns()).toBe(started);
  expect(started).toBeGreaterThan(automations.length);
});

/** The server looks, is down for so many minutes, and looks again. What is planned for later has not begun. */
async function lookThroughTheYear(harness: AutomationHarness, downtimes: number[]): Promise<Date> {
  let clock = year.from;
  for (const minutesDown of downtimes) {
    clock = new Date(clock.getTime() + minutesDown * 60_000);
    harness.setClock(clock.toISOString());
    await harness.look();
    const early = await harness.host.platform.db
      .selectFrom("automation_firings")
      .select("id")
      .where("planned_at", ">", clock)
      .where("status", "<>", "planned")
      .execute();
    expect(early).toEqual([]);
    if (clock > year.to) break;
  }
  return clock;
}
