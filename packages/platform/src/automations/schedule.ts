// When a schedule fires: a strict reading of cron expressions, and the instant after another one. Pure.
import { Cron } from "croner";
import { openWallClock, type WallClock } from "./wall-clock.ts";

export interface Schedule {
  /** Strictly after the given instant; null: never again. */
  nextAfter(instant: Date): Date | null;
}

export type ReadSchedule = { kind: "valid"; schedule: Schedule } | { kind: "invalid"; problem: string };

const presets: Record<string, string> = {
  "@hourly": "0 * * * *",
  "@daily": "0 9 * * *",
  "@weekdays": "0 9 * * 1-5",
  "@weekly": "0 9 * * 1",
  "@monthly": "0 9 1 * *",
};

/**
 * Times that the clock jumps over fire once, right after the jump; times that it repeats fire once. Where the hour is
 * `*`, the schedule follows the running clock instead: hours that are repeated count twice, hours that are left out
 * do not count.
 */
export function readSchedule(expression: string, timezone: string): ReadSchedule {
  const invalid = (problem: string): ReadSchedule => ({ kind: "invalid", problem });
  if (!isTimezone(timezone))
    return invalid(`unknown time zone ${JSON.stringify(timezone)}; use an IANA name such as Europe/Berlin`);
  const cron = expression.startsWith("@") ? presets[expression] : expression;
  if (cron === undefined) return invalid(`unknown preset ${expression}; there are ${Object.keys(presets).join(", ")}`);
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== names.length)
    return invalid(`expected five fields (${names.join(", ")}), found ${fields.length}`);
  const wrong = fields.findIndex((field, index) => !forms[index]?.test(field));
  if (wrong !== -1) return invalid(`${names[wrong]}: ${JSON.stringify(fields[wrong])} cannot be read`);
  try {
    const job = new Cron(fields.join(" "), { timezone: "UTC", paused: true });
    const times: Times = { clock: openWallClock(timezone), nextTime: (wall) => job.nextRun(wall) };
    const next = fields[1] === "*" ? nextOfRunningClock : nextOfTimes;
    const schedule: Schedule = { nextAfter: (instant) => next(times, instant) };
    if (schedule.nextAfter(someDay) === null) return invalid("there is no such day, so it would never fire");
    return { kind: "valid", schedule };
  } catch (error) {
    return invalid(reasonOf(error));
  }
}

interface Times {
  clock: WallClock;
  /** The next time of the expression that clocks show, as if they showed UTC. */
  nextTime(wall: Date): Date | null;
}

function nextOfTimes({ clock, nextTime }: Times, instant: Date): Date | null {
  for (let wall = nextTime(clock.at(instant)); wall !== null; wall = nextTime(wall)) {
    const next = clock.firstInstantOf(wall);
    if (next > instant) return next;
  }
  return null;
}

function nextOfRunningClock({ clock, nextTime }: Times, instant: Date): Date | null {
  let from = instant;
  for (;;) {
    const shown = clock.at(from);
    const wall = nextTime(shown);
    if (wall === null) return null;
    const next = new Date(from.getTime() + wall.getTime() - shown.getTime());
    const change = clock.changeBetween(from, next);
    if (change === null) return next;
    // The second before the change, as the new offset would show it: the change itself may be a time of the expression.
    const before = new Date(clock.at(change).getTime() - 1_000);
    if (nextTime(before)?.getTime() === clock.at(change).getTime()) return change;
    from = change;
  }
}

const names = ["minute", "hour", "day of the month", "month", "day of the week"];
/** Seconds, years, and extensions that programs read differently (`5/15`, `H`, `L`, `W`, `#`, `?`) are refused. */
const fieldForm = /^(\*(\/\d+)?|VALUE(-VALUE(\/\d+)?)?)(,(\*(\/\d+)?|VALUE(-VALUE(\/\d+)?)?))*$/.source;
const months = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec";
const weekdays = "sun|mon|tue|wed|thu|fri|sat";
const forms = ["", "", "", `|${months}`, `|${weekdays}`].map(
  (words) => new RegExp(fieldForm.replaceAll("VALUE", `(\\d+${words})`), "i"),
);
/** Before a leap year, so that 29 February is found. */
const someDay = new Date("2027-01-01T00:00:00Z");

const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/^Cron\w*: */, "").replace(/\.$/, "");

function isTimezone(name: string): boolean {
  // Offsets and old abbreviations have no rules for daylight time.
  if (name !== "UTC" && !name.includes("/")) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
