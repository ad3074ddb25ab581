// Schedules: which expressions are accepted, and when they fire where clocks change.
import { expect, test } from "vitest";
import { readSchedule } from "../../src/automations/schedule.ts";

const problemOf = (cron: string, timezone = "UTC"): string => {
  const read = readSchedule(cron, timezone);
  return read.kind === "invalid" ? read.problem : "none";
};

const firings = (cron: string, timezone: string, from: string, count: number): string[] => {
  const read = readSchedule(cron, timezone);
  if (read.kind === "invalid") throw new Error(read.problem);
  const found: string[] = [];
  for (let at: Date | null = new Date(from); found.length < count; ) {
    at = read.schedule.nextAfter(at);
    if (at === null) break;
    found.push(at.toISOString().slice(0, 16));
  }
  return found;
};

test.each([
  ["0 9 * *", "UTC", "expected five fields (minute, hour, day of the month, month, day of the week), found 4"],
  ["0 0 9 * * *", "UTC", "expected five fields"],
  ["5/15 * * * *", "UTC", "minute"],
  ["H 9 * * *", "UTC", "minute"],
  ["0 9 L * *", "UTC", "day of the month"],
  ["0 9 15W * *", "UTC", "day of the month"],
  ["0 9 * * 5#2", "UTC", "day of the week"],
  ["0 9 ? * *", "UTC", "day of the month"],
  ["60 9 * * *", "UTC", "60"],
  ["0 24 * * *", "UTC", "24"],
  ["*/0 * * * *", "UTC", "0"],
  ["0 9 30 2 *", "UTC", "there is no such day"],
  ["", "UTC", "expected five fields"],
  ["@reboot", "UTC", "unknown preset @reboot; there are @hourly"],
  ["0 9 * * *", "Mars/Phobos", 'unknown time zone "Mars/Phobos"; use an IANA name'],
  ["0 9 * * *", "EST", "unknown time zone"],
  ["0 9 * * *", "+02:00", "unknown time zone"],
])("the schedule %j in %s is refused with its reason", (cron, timezone, reason) => {
  expect(problemOf(cron, timezone)).toMatch(new RegExp(reason.replace(/[.*+?^$()[\]]/g, "\\$&")));
});

test.each(["0 9 * * 1-5", "*/15 0-6,22 * jan,mar *", "0 0 29 2 *", "30 2 * * SUN", "@weekdays"])(
  "the schedule %j is accepted",
  (cron) => {
    expect(problemOf(cron, "Europe/Berlin")).toBe("none");
  },
);

test.each([
  [
    "a time that the clock jumps over",
    "30 2 * * *",
    "America/New_York",
    "2026-03-07T12:00Z",
    ["2026-03-08T07:00", "2026-03-09T06:30"],
  ],
  [
    "a midnight that does not exist",
    "0 0 * * *",
    "Asia/Beirut",
    "2026-03-28T12:00Z",
    ["2026-03-28T22:00", "2026-03-29T21:00"],
  ],
  [
    "a jump of half an hour",
    "15 2 * * *",
    "Australia/Lord_Howe",
    "2026-10-03T12:00Z",
    ["2026-10-03T15:30", "2026-10-04T15:15"],
  ],
  [
    "a time that comes twice",
    "30 1 * * *",
    "America/New_York",
    "2026-10-31T12:00Z",
    ["2026-11-01T05:30", "2026-11-02T06:30"],
  ],
  [
    "two times that the clock jumps over",
    "0,30 2 * * *",
    "America/New_York",
    "2026-03-07T12:00Z",
    ["2026-03-08T07:00", "2026-03-09T06:00", "2026-03-09T06:30"],
  ],
  [
    "two times that come twice",
    "0,30 1 * * *",
    "America/New_York",
    "2026-10-31T12:00Z",
    ["2026-11-01T05:00", "2026-11-01T05:30", "2026-11-02T06:00"],
  ],
  [
    "every half hour while an hour comes twice",
    "*/30 * * * *",
    "America/New_York",
    "2026-11-01T05:00Z",
    ["2026-11-01T05:30", "2026-11-01T06:00", "2026-11-01T06:30", "2026-11-01T07:00"],
  ],
  ["leap day", "0 9 29 2 *", "UTC", "2026-03-01T00:00Z", ["2028-02-29T09:00", "2032-02-29T09:00"]],
  [
    "the preset for weekdays",
    "@weekdays",
    "Europe/Berlin",
    "2026-01-02T12:00Z",
    ["2026-01-05T08:00", "2026-01-06T08:00"],
  ],
])("%s fires once and never early", (_name, cron, timezone, from, expected) => {
  expect(firings(cron, timezone, from, expected.length)).toEqual(expected);
});
