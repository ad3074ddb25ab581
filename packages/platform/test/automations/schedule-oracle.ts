// When a schedule has to fire, found another way than the product does: a second cron library reads the expression,
// and the offsets of a time zone are listed one by one.
import { CronExpressionParser } from "cron-parser";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

export interface Period {
  from: Date;
  to: Date;
}

/** From `start` on clocks are ahead of UTC by `offset` milliseconds. */
interface Segment {
  start: number;
  offset: number;
}

/** Every instant after `from` and up to `to` at which the schedule fires. */
export function expectedFirings(cron: string, timezone: string, { from, to }: Period): string[] {
  const segments = segmentsOf(timezone, { from: new Date(from.getTime() - 3 * dayMs), to });
  const instants = cron.split(" ")[1] === "*" ? everyTimeShown : firstTimeShown;
  const found = new Set<number>();
  for (const wall of timesOf(cron, { from: new Date(from.getTime() - 2 * dayMs), to: new Date(to.getTime() + dayMs) }))
    for (const instant of instants(wall, segments)) found.add(instant);
  return [...found]
    .filter((instant) => instant > from.getTime() && instant <= to.getTime())
    .sort((a, b) => a - b)
    .map((instant) => new Date(instant).toISOString());
}

/** The instants in the period at which clocks are changed. */
export const changesOf = (timezone: string, period: Period): Date[] =>
  segmentsOf(timezone, period)
    .slice(1)
    .map(({ start }) => new Date(start));

/** Times of the expression as if clocks showed UTC. */
function* timesOf(cron: string, { from, to }: Period): Generator<number> {
  const expression = CronExpressionParser.parse(cron, { currentDate: from, endDate: to, tz: "UTC" });
  while (expression.hasNext()) yield expression.next().getTime();
}

const everyTimeShown = (wall: number, segments: Segment[]): number[] =>
  segments
    .map(({ start, offset }, index) => ({ start, instant: wall - offset, end: segments[index + 1]?.start ?? Infinity }))
    .filter(({ start, instant, end }) => start <= instant && instant < end)
    .map(({ instant }) => instant);

function firstTimeShown(wall: number, segments: Segment[]): number[] {
  const [first] = everyTimeShown(wall, segments);
  if (first !== undefined) return [first];
  return segments
    .filter(({ start, offset }) => wall < start + offset)
    .map(({ start }) => start)
    .slice(0, 1);
}

function segmentsOf(timezone: string, { from, to }: Period): Segment[] {
  const segments: Segment[] = [];
  for (let at = from.getTime(); at < to.getTime(); at += dayMs) {
    const last = segments.at(-1)?.offset;
    if (offsetAt(timezone, at) === last && offsetAt(timezone, at + dayMs) === last) continue;
    for (let minute = at; minute < at + dayMs; minute += 15 * minuteMs) {
      const offset = offsetAt(timezone, minute);
      if (offset !== segments.at(-1)?.offset) segments.push({ start: minute, offset });
    }
  }
  return segments;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Read from a text such as "GMT+05:45". */
function offsetAt(timezone: string, instant: number): number {
  const options = { timeZone: timezone, timeZoneName: "longOffset" } as const;
  const format = formats.get(timezone) ?? new Intl.DateTimeFormat("en-US", options);
  formats.set(timezone, format);
  const [, sign, hours, minutes] = /GMT([+-])(\d+):(\d+)/.exec(format.format(instant)) ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * minuteMs;
}
