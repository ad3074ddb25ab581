// Cost by day as bars, and as a table for screen readers.
import type { SpendingDay } from "@agentcli/protocol/api";
import { money } from "../text/format.ts";

const height = 120;
const barWidth = 10;
const gap = 3;

export function DayChart({ days }: { days: SpendingDay[] }) {
  const max = Math.max(...days.map(({ costCents }) => costCents), 0);
  if (max === 0) return null;
  const width = days.length * (barWidth + gap);
  return (
    <figure className="chart">
      <figcaption>
        <span>Cost by day</span>
        <span className="soft numeric">highest {money(max)}</span>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {days.map(({ day, costCents }, index) => {
          const size = Math.max(costCents === 0 ? 1 : 3, (costCents / max) * height);
          return (
            <rect
              key={day}
              className={costCents === 0 ? "bar bar-none" : "bar"}
              x={index * (barWidth + gap)}
              y={height - size}
              width={barWidth}
              height={size}
            >
              <title>{`${day}: ${money(costCents)}`}</title>
            </rect>
          );
        })}
      </svg>
      <p className="chart-axis soft numeric" aria-hidden="true">
        <span>{days[0]?.day}</span>
        <span>{days.at(-1)?.day}</span>
      </p>
      <DayTable days={days} />
    </figure>
  );
}

const DayTable = ({ days }: { days: SpendingDay[] }) => (
  <table className="sr-only">
    <caption>Cost by day</caption>
    <tbody>
      {days
        .filter(({ runs, calls }) => runs + calls > 0)
        .map(({ day, costCents }) => (
          <tr key={day}>
            <th scope="row">{day}</th>
            <td>{money(costCents)}</td>
          </tr>
        ))}
    </tbody>
  </table>
);
