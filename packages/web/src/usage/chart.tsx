// Usage as bars: by day, and as the share of one among others. Screen readers get the numbers as tables.
import type { SpendingDay } from "@agentcli/protocol/api";
import type { Measure } from "./measure.ts";

const height = 120;
const barWidth = 10;
const gap = 3;

export function DayChart({ days, measure }: { days: SpendingDay[]; measure: Measure }) {
  const max = Math.max(...days.map(measure.of), 0);
  if (max === 0) return null;
  const width = days.length * (barWidth + gap) - gap;
  return (
    <figure className="chart">
      <figcaption>
        <span>{measure.name} by day</span>
        <span className="soft numeric">highest {measure.format(max)}</span>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {days.map((one, index) => {
          const value = measure.of(one);
          const size = Math.max(value === 0 ? 1 : 3, (value / max) * height);
          return (
            <rect
              key={one.day}
              className={value === 0 ? "bar bar-none" : "bar"}
              x={index * (barWidth + gap)}
              y={height - size}
              width={barWidth}
              height={size}
            >
              <title>{`${dayName(one.day)}: ${measure.format(value)}`}</title>
            </rect>
          );
        })}
      </svg>
      <p className="chart-axis soft numeric" aria-hidden="true">
        <span>{dayName(days[0]?.day)}</span>
        <span>{dayName(days.at(-1)?.day)}</span>
      </p>
      <DayTable days={days} measure={measure} />
    </figure>
  );
}

/** Days of usage begin and end in UTC. */
const dayName = (day: string | undefined): string =>
  day === undefined
    ? ""
    : new Date(day).toLocaleDateString(undefined, { month: "short", day: "numeric", timeZone: "UTC" });

const DayTable = ({ days, measure }: { days: SpendingDay[]; measure: Measure }) => (
  <table className="sr-only">
    <caption>{measure.name} by day</caption>
    <tbody>
      {days
        .filter(({ runs, calls }) => runs + calls > 0)
        .map((one) => (
          <tr key={one.day}>
            <th scope="row">{one.day}</th>
            <td>{measure.format(measure.of(one))}</td>
          </tr>
        ))}
    </tbody>
  </table>
);

/** As long as its part of the longest one. The number stands beside it. */
export const ShareBar = ({ part }: { part: number }) => (
  <svg className="share" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
    <rect className="share-rest" width={100} height={1} />
    <rect className="bar" width={part === 0 ? 0 : Math.max(0.5, part * 100)} height={1} />
  </svg>
);
