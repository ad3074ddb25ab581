// One agent in the list.
import type { AgentOverview } from "@agentcli/protocol/api";
import { describeRunModel } from "@agentcli/protocol/outcomes";
import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { Icon } from "../components/icon.tsx";
import { LineCount } from "../components/line-count.tsx";
import { PullLink } from "../components/pull.tsx";
import { StatusIcon, wordOf } from "../components/status.tsx";
import { Elapsed, Moment } from "../components/time.tsx";
import { duration, money, repositoryName } from "../text/format.ts";

export const AgentRow = memo(({ agent }: { agent: AgentOverview }) => {
  const { latestRun, owner, repos = [], branch, lines, pullRequests, cost } = agent;
  const isActive = latestRun?.status === "RUNNING" || latestRun?.status === "CREATING";
  return (
    <li className="row" data-agent={agent.id}>
      <span className="row-status" data-status={latestRun?.status}>
        {latestRun && <StatusIcon status={latestRun.status} />}
      </span>
      <div className="row-main">
        <Link className="row-name" to="/agents/$id" params={{ id: agent.id }} data-row>
          {agent.name ?? agent.id}
        </Link>
        <span className="row-facts">
          <span className="row-word">{latestRun && wordOf(latestRun.status)}</span>
          {agent.status === "ARCHIVED" && <span className="tag">Archived</span>}
          {repos.map(({ url }) => (
            <span key={url} className="fact" title={url}>
              <Icon name="repository" size={14} />
              {repositoryName(url)}
            </span>
          ))}
          {branch !== undefined && (
            <span className="fact fact-branch" title={branch}>
              <Icon name="branch" size={14} />
              {branch}
            </span>
          )}
          {lines && <LineCount {...lines} />}
          {latestRun?.model && <span className="fact fact-model">{describeRunModel(latestRun.model)}</span>}
          {latestRun?.error && <span className="fact fact-bad">{latestRun.error.message}</span>}
        </span>
      </div>
      <div className="row-end">
        {pullRequests.map((pull) => (
          <PullLink key={pull.url} pull={pull} />
        ))}
        <span className="row-cost numeric" title="Cost of all runs">
          {cost && money(cost.chargedCents)}
        </span>
        <span className="row-duration numeric" title="Duration of the last run">
          {isActive && <Elapsed since={latestRun.createdAt} />}
          {!isActive && latestRun?.durationMs !== undefined && duration(latestRun.durationMs)}
        </span>
        <span className="row-time">
          <Moment at={agent.updatedAt} />
        </span>
        <Owner name={owner.name} />
      </div>
    </li>
  );
});

export const Owner = ({ name }: { name: string }) => (
  <span className="avatar" role="img" aria-label={`Owner: ${name}`} title={name}>
    {name.slice(0, 1).toUpperCase()}
  </span>
);
