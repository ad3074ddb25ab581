// What an agent has used and cost, run by run.
import type { AgentUsage } from "@agentcli/protocol/api";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { agentQuery } from "../api/queries.ts";
import { request } from "../api/request.ts";
import { Loaded } from "../components/page.tsx";
import { money } from "../text/format.ts";
import { amount } from "../usage/amount.ts";

const usageQuery = (id: string) =>
  queryOptions({
    queryKey: ["agent", id, "usage"],
    queryFn: ({ signal }) => request<AgentUsage>(`/v1/agents/${encodeURIComponent(id)}/usage`, { signal }),
  });

export function UsageTab() {
  const { id } = useParams({ from: "/agents/$id" });
  const query = useQuery(usageQuery(id));
  const { data: agent } = useQuery(agentQuery(id));
  const promptOf = (runId: string) => agent?.runs.find((run) => run.id === runId)?.prompt ?? "";
  return (
    <Loaded query={query}>
      {({ totalUsage, cost, runs }) => (
        <>
          <dl className="figures">
            <Figure name="Cost" value={cost ? money(cost.chargedCents) : "Not known"} />
            <Figure name="Input" value={amount(totalUsage.inputTokens)} />
            <Figure name="Read from cache" value={amount(totalUsage.cacheReadTokens)} />
            <Figure name="Output" value={amount(totalUsage.outputTokens)} />
          </dl>
          <table className="table">
            <thead>
              <tr>
                <th>Run</th>
                <th className="number">Tokens</th>
                <th className="number">Cost</th>
              </tr>
            </thead>
            <tbody>
              {runs.map((run) => (
                <tr key={run.id}>
                  <td data-label="Run">
                    <Link to="/agents/$id" params={{ id }} hash={run.id}>
                      {promptOf(run.id).slice(0, 60) || <code>{run.id.slice(0, 12)}</code>}
                    </Link>
                  </td>
                  <td data-label="Tokens" className="number">
                    {amount(run.usage.totalTokens)}
                  </td>
                  <td data-label="Cost" className="number">
                    {run.cost ? money(run.cost.chargedCents) : "Not known"}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </Loaded>
  );
}

const Figure = ({ name, value }: { name: string; value: string }) => (
  <div className="figure">
    <dt>{name}</dt>
    <dd className="numeric">{value}</dd>
  </div>
);
