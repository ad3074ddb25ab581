// What the clocks of a time zone show, as if it were UTC, and when they show it. Pure.

export interface WallClock {
  /** What clocks show at the instant. */
  at(instant: Date): Date;
  /** When clocks first show the time; the end of the jump where they jump over it. */
  firstInstantOf(wall: Date): Date;
  /** The next change of the offset after `from` and up to `to`, the first instant with another one; null: none. */
  changeBetween(from: Date, to: Date): Date | null;
}

const hourMs = 3_600_000;
/** Longer than any jump: some zones have skipped a whole day. */
const marginMs = 36 * hourMs;

export function openWallClock(timezone: string): WallClock {
  const offsetAt = openOffsets(timezone);
  const changeBetween = (from: Date, to: Date): Date | null => {
    const [start, end] = [from.getTime(), to.getTime()];
    const before = offsetAt(start);
    for (let at = start; at < end; at += 24 * hourMs) {
      const until = Math.min(at + 24 * hourMs, end);
      if (offsetAt(until) !== before) return new Date(bisect(at, until, (instant) => offsetAt(instant) !== before));
    }
    return null;
  };
  return {
    at: (instant) => new Date(instant.getTime() + offsetAt(instant.getTime())),
    firstInstantOf(wall) {
      const time = wall.getTime();
      const offsets = [offsetAt(time - marginMs), offsetAt(time + marginMs)];
      const shown = offsets.map((offset) => time - offset).filter((instant) => instant + offsetAt(instant) === time);
      if (shown.length > 0) return new Date(Math.min(...shown));
      const [earliest, latest] = [Math.min(...offsets), Math.max(...offsets)];
      return changeBetween(new Date(time - latest), new Date(time - earliest)) ?? new Date(time - earliest);
    },
    changeBetween,
  };
}

/** The first whole second of (from, to] for which `holds`, which holds at `to` and not at `from`. */
function bisect(from: number, to: number, holds: (instant: number) => boolean): number {
  let [low, high] = [from, to];
  while (high - low > 1_000) {
    const middle = Math.floor((low + high) / 2_000) * 1_000;
    if (middle <= low) break;
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** The offset to UTC in milliseconds. */
function openOffsets(timezone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    hourCycle: "h23",
    era: "short",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return (instant) => {
    const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
    const [year, month, day] = [parts.get("year") ?? 0, parts.get("month") ?? 1, parts.get("day") ?? 1];
    const wall = Date.UTC(year, month - 1, day, parts.get("hour"), parts.get("minute"), parts.get("second"));
    return wall - Math.floor(instant / 1_000) * 1_000;
  };
}
