// Usage and spend: by day and by what it was for, with the limits of this month.
import type { Spending } from "@agentcli/protocol/api";
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { request } from "../api/request.ts";
import { session } from "../api/session.ts";
import { Loaded, Page } from "../components/page.tsx";
import { money } from "../text/format.ts";
import { amount } from "./amount.ts";
import { Breakdowns } from "./breakdowns.tsx";
import { DayChart } from "./chart.tsx";
import type { UsageFilter } from "./filter.ts";
import { measureOf } from "./measure.ts";

const usageQuery = ({ of = "me", days = 30 }: UsageFilter) =>
  queryOptions({
    queryKey: ["usage", of, days],
    queryFn: ({ signal }) => request<Spending>(`/v1/usage?of=${of}&days=${days}`, { signal }),
    placeholderData: keepPreviousData,
  });

export function UsagePage() {
  const filter = useSearch({ from: "/usage" });
  const navigate = useNavigate({ from: "/usage" });
  const query = useQuery(usageQuery(filter));
  const change = (next: UsageFilter) => void navigate({ search: { ...filter, ...next }, replace: true });
  return (
    <Page title="Usage" actions={<Choices filter={filter} onChange={change} />}>
      <Loaded query={query}>
        {(spending) => {
          const measure = measureOf(spending);
          return (
            <>
              <Totals spending={spending} />
              <DayChart days={spending.days} measure={measure} />
              <Breakdowns spending={spending} measure={measure} />
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

interface ChoicesProps {
  filter: UsageFilter;
  onChange(filter: UsageFilter): void;
}

const Choices = ({ filter: { of = "me", days = 30 }, onChange }: ChoicesProps) => (
  <>
    {session.isAdmin && (
      <select
        className="input select"
        aria-label="Whose usage"
        value={of}
        onChange={({ target }) => onChange({ of: target.value === "team" ? "team" : "me" })}
      >
        <option value="me">Mine</option>
        <option value="team">The team's</option>
      </select>
    )}
    <select
      className="input select"
      aria-label="Period"
      value={days}
      onChange={({ target }) => onChange({ days: Number(target.value) })}
    >
      {[7, 30, 90, 365].map((one) => (
        <option key={one} value={one}>
          {one} days
        </option>
      ))}
    </select>
  </>
);

const Totals = ({ spending: { total, limits } }: { spending: Spending }) => (
  <dl className="figures">
    <Figure name="Spent" value={money(total.costCents)} />
    <Figure name="Runs" value={amount(total.runs)} />
    <Figure name="Model calls" value={amount(total.calls)} />
    <Figure name="Tokens" value={amount(total.tokens)} />
    {limits.map((limit) => (
      <Limit key={limit.of} limit={limit} />
    ))}
    {total.unpriced > 0 && <Figure name="Without a known price" value={amount(total.unpriced)} />}
  </dl>
);

const Figure = ({ name, value }: { name: string; value: string }) => (
  <div className="figure">
    <dt>{name}</dt>
    <dd className="numeric">{value}</dd>
  </div>
);

const Limit = ({ limit: { of, limitCents, spentCents } }: { limit: Spending["limits"][number] }) => {
  const name = of === "team" ? "Limit of the team" : "Your limit";
  const isReached = spentCents >= limitCents;
  return (
    <div className="figure">
      <dt>{name}, this month</dt>
      <dd className="numeric">
        {money(spentCents)} of {money(limitCents)}
        <meter
          className="limit"
          min={0}
          max={limitCents}
          high={limitCents * 0.9}
          value={spentCents}
          aria-label={`Spent of ${of === "team" ? "the limit of the team" : "your limit"}`}
        />
        <span className={isReached ? "limit-note bad" : "limit-note soft"}>
          {isReached ? "Reached: new runs are refused" : `${Math.floor((spentCents / limitCents) * 100)} % used`}
        </span>
      </dd>
    </div>
  );
};
