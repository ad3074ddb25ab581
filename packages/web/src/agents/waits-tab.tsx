// What an agent waits for: events of pull requests, timers, failed checks of its own. People cancel them here.
import type { Subscription } from "@agentcli/protocol/api";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { agentQuery } from "../api/queries.ts";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { ConfirmButton } from "../components/confirm.tsx";
import { Empty, Failure } from "../components/feedback.tsx";
import { Loaded } from "../components/page.tsx";
import { TableHead } from "../components/table.tsx";
import { Moment } from "../components/time.tsx";
import { repositoryName } from "../text/format.ts";

const pathOf = (id: string) => `/v1/agents/${encodeURIComponent(id)}/subscriptions`;

const waitsQuery = (id: string) =>
  queryOptions({
    queryKey: ["agent", id, "subscriptions"],
    queryFn: ({ signal }) => request<{ items: Subscription[] }>(pathOf(id), { signal }),
  });

export function WaitsTab() {
  const { id } = useParams({ from: "/agents/$id" });
  const query = useQuery(waitsQuery(id));
  return (
    <Loaded query={query}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty icon="clock" title="It waits for nothing">
            <p>
              Agents wait for comments, reviews, results of checks and times. Begin a prompt with{" "}
              <code>/subscribe</code>.
            </p>
          </Empty>
        ) : (
          <WaitsTable agentId={id} items={items} />
        )
      }
    </Loaded>
  );
}

function WaitsTable({ agentId, items }: { agentId: string; items: Subscription[] }) {
  const queries = useQueryClient();
  const { data: agent } = useQuery(agentQuery(agentId));
  const mayCancel = agent?.permissions.followUp === true;
  const cancel = useAction(async (subscriptionId: string) => {
    await request(`${pathOf(agentId)}/${encodeURIComponent(subscriptionId)}`, { method: "DELETE" });
    await queries.invalidateQueries({ queryKey: ["agent", agentId, "subscriptions"] });
  });
  return (
    <>
      {cancel.error !== null && <Failure error={cancel.error} />}
      <table className="table">
        <TableHead columns={["Waits for", "State", "When"]} hasActions />
        <tbody>
          {items.map((subscription) => (
            <tr key={subscription.id}>
              <td data-label="Waits for">{describe(subscription)}</td>
              <td data-label="State" className="table-short">
                {stateOf(subscription)}
              </td>
              <td data-label="When" className="table-short">
                {subscription.status === "active" && (
                  <>
                    {subscription.nextAt === undefined ? "Ends " : "Fires "}
                    <Moment at={subscription.nextAt ?? subscription.expiresAt} />
                  </>
                )}
              </td>
              <td className="table-actions">
                {mayCancel && subscription.status === "active" && (
                  <ConfirmButton
                    look="quiet"
                    label="Cancel"
                    title="Cancel this wait?"
                    isBusy={cancel.isPending}
                    onConfirm={() => void cancel.run(subscription.id)}
                  >
                    <p>The agent is not woken any more by: {describe(subscription)}</p>
                  </ConfirmButton>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function describe({ filter }: Subscription): string {
  switch (filter.source) {
    case "timer": {
      const times = filter.cron === undefined ? "A timer" : `Times: ${filter.cron} (${filter.timezone ?? "UTC"})`;
      return filter.note === "" ? times : `${times}: ${filter.note}`;
    }
    case "ci_fix":
      return `Failed checks of pull request ${filter.pullRequest} of ${repositoryName(filter.repoUrl)}, to fix them`;
    case "source_host": {
      const where = filter.pullRequest === undefined ? "" : `pull request ${filter.pullRequest} of `;
      const text = `${filter.events.join(", ")} on ${where}${repositoryName(filter.repoUrl)}`;
      return text.slice(0, 1).toUpperCase() + text.slice(1);
    }
  }
}

const statusWords: Record<Subscription["status"], string> = {
  active: "Waiting",
  cancelled: "Cancelled",
  expired: "Ended",
  done: "Done",
};

const stateOf = ({ status, endedReason, lastSkipped }: Subscription): string => {
  if (endedReason !== undefined) return endedReason;
  return lastSkipped ? `${statusWords[status]}. Not delivered: ${lastSkipped.reason}` : statusWords[status];
};
