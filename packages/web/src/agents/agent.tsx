// One agent: its header, which stays in view, and the tabs below it.
import type { AgentDetails } from "@agentcli/protocol/api";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useParams } from "@tanstack/react-router";
import { agentQuery } from "../api/queries.ts";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { useReadOnView, useTitle } from "../api/use-inbox.ts";
import { Button } from "../components/controls.tsx";
import { Failure, Notice, Skeleton } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { LineCount } from "../components/line-count.tsx";
import { PullLink } from "../components/pull.tsx";
import { StatusBadge, wordOf } from "../components/status.tsx";
import { StopButton } from "../components/stop.tsx";
import { Elapsed, Moment } from "../components/time.tsx";
import { duration, money, repositoryName } from "../text/format.ts";
import { AgentTabs } from "./agent-tabs.tsx";

export function AgentPage() {
  const { id } = useParams({ from: "/agents/$id" });
  const { data: agent, error, isPending, refetch } = useQuery(agentQuery(id));
  const status = agent?.latestRun ? `${wordOf(agent.latestRun.status)} · ` : "";
  useTitle(`${status}${agent?.name ?? id}`);
  useReadOnView(id);
  if (isPending) return <Skeleton lines={5} />;
  if (!agent) return <Failure error={error} retry={() => refetch()} />;
  return (
    <div className="page page-agent">
      <AgentHeader agent={agent} />
      {agent.permissions.notice !== undefined && <Notice>{agent.permissions.notice}</Notice>}
      <Outlet />
    </div>
  );
}

function AgentHeader({ agent }: { agent: AgentDetails }) {
  const { id, name, latestRun } = agent;
  return (
    <header className="agent-header">
      <div className="agent-title">
        <Link className="icon-button agent-back" to="/agents" aria-label="All agents">
          <Icon name="chevron" />
        </Link>
        <h1>{name ?? id}</h1>
        {latestRun && <StatusBadge status={latestRun.status} />}
        <AgentActions agent={agent} />
      </div>
      <AgentFacts agent={agent} />
      <AgentTabs agent={agent} />
    </header>
  );
}

const AgentFacts = ({ agent }: { agent: AgentDetails }) => {
  const { repos = [], branch, lines, pullRequests, owner, latestRun, cost } = agent;
  const isActive = agent.group === "running";
  return (
    <p className="agent-facts">
      {repos.map(({ url }) => (
        <span key={url} className="fact" title={url}>
          <Icon name="repository" size={14} />
          {repositoryName(url)}
        </span>
      ))}
      {branch !== undefined && (
        <span className="fact">
          <Icon name="branch" size={14} />
          <code>{branch}</code>
        </span>
      )}
      {lines && <LineCount {...lines} />}
      {pullRequests.map((pull) => (
        <PullLink key={pull.url} pull={pull} />
      ))}
      {agent.forkedFrom && (
        <Link className="fact" to="/agents/$id" params={{ id: agent.forkedFrom.agentId }} hash={agent.forkedFrom.runId}>
          <Icon name="branch" size={14} /> Fork
        </Link>
      )}
      <span className="fact">{owner.isCaller ? "You" : owner.name}</span>
      <span className="fact">
        <Moment at={agent.createdAt} />
      </span>
      {latestRun && (
        <span className="fact">
          <Icon name="clock" size={14} />
          {isActive ? <Elapsed since={latestRun.createdAt} /> : duration(latestRun.durationMs ?? 0)}
        </span>
      )}
      {cost && <span className="fact numeric">{money(cost.chargedCents)}</span>}
    </p>
  );
};

function AgentActions({ agent: { id, group, status, latestRun, permissions } }: { agent: AgentDetails }) {
  const queries = useQueryClient();
  const act = useAction(async (path: string) => {
    await request(`/v1/agents/${id}/${path}`, { method: "POST" });
    await queries.invalidateQueries({ queryKey: ["agent", id] });
  });
  return (
    <div className="agent-actions">
      {group === "running" && permissions.cancel && latestRun && (
        <StopButton
          permissions={permissions}
          isBusy={act.isPending}
          onStop={() => act.run(`runs/${latestRun.id}/cancel`)}
        />
      )}
      {permissions.manage &&
        (status === "ARCHIVED" ? (
          <Button icon="archive" isBusy={act.isPending} onClick={() => act.run("unarchive")}>
            <span className="action-label">Unarchive</span>
          </Button>
        ) : (
          <Button look="quiet" icon="archive" isBusy={act.isPending} onClick={() => act.run("archive")}>
            <span className="action-label">Archive</span>
          </Button>
        ))}
      {act.error !== null && <Failure error={act.error} />}
    </div>
  );
}
