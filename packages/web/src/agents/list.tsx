// The list of agents, grouped by what they need from people. It keeps itself up to date.
import type { AgentGroup, AgentOverview } from "@agentcli/protocol/api";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useMemo, useRef } from "react";
import { agentsQuery } from "../api/queries.ts";
import { session } from "../api/session.ts";
import { useTitle } from "../api/use-inbox.ts";
import { Button, Keys } from "../components/controls.tsx";
import { Empty, Failure, Skeleton } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { repositoryName } from "../text/format.ts";
import { type AgentFilter, matches } from "./filter.ts";
import { useListKeys } from "./list-keys.ts";
import { AgentRow } from "./row.tsx";

const Welcome = lazy(() => import("./welcome.tsx"));
const SpendBanner = lazy(() => import("./spend-banner.tsx"));

const groups: { group: AgentGroup; title: string }[] = [
  { group: "needs_you", title: "Needs you" },
  { group: "running", title: "Running" },
  { group: "finished", title: "Finished" },
];

export function AgentsPage() {
  const filter = useSearch({ from: "/agents" });
  const navigate = useNavigate({ from: "/agents" });
  const change = (next: AgentFilter) => navigate({ search: next, replace: true });
  const query = useInfiniteQuery(agentsQuery({ archived: filter.archived ?? false, sdk: filter.sdk ?? false }));
  const all = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data]);
  const shown = all.filter((agent) => matches(agent, filter));
  const list = useRef<HTMLDivElement>(null);
  useListKeys(list);
  useTitle("Agents");
  return (
    <div className="page page-agents">
      <header className="page-header">
        <h1>Agents</h1>
      </header>
      <Filters filter={filter} agents={all} onChange={change} />
      {query.isError && <Failure error={query.error} retry={() => query.refetch()} />}
      {query.isPending && <Skeleton lines={6} />}
      {query.isSuccess && all.length === 0 && (
        <Suspense>
          <Welcome />
        </Suspense>
      )}
      {all.length > 0 && shown.length === 0 && (
        <Empty icon="search" title="No agent matches">
          <Button onClick={() => change({})}>Clear the filters</Button>
        </Empty>
      )}
      <div ref={list} className="groups">
        {groups.map(({ group, title }) => (
          <Group key={group} group={group} title={title} agents={shown.filter((agent) => agent.group === group)} />
        ))}
      </div>
      {query.hasNextPage && (
        <Button isBusy={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
          Older agents
        </Button>
      )}
      {/* Below the rows: it comes later than they do, and must not move what is about to be clicked. */}
      {all.length > 0 && session.isAdmin && (
        <Suspense>
          <SpendBanner />
        </Suspense>
      )}
    </div>
  );
}

interface GroupProps {
  group: AgentGroup;
  title: string;
  agents: AgentOverview[];
}

const Group = ({ group, title, agents }: GroupProps) =>
  agents.length > 0 && (
    <section className="group" aria-labelledby={`group-${group}`}>
      <h2 className="group-title" id={`group-${group}`}>
        <span className={`group-dot group-${group}`} aria-hidden="true" />
        {title} <span className="count">{agents.length}</span>
      </h2>
      <ul className="rows">
        {agents.map((agent) => (
          <AgentRow key={agent.id} agent={agent} />
        ))}
      </ul>
    </section>
  );

interface FiltersProps {
  filter: AgentFilter;
  agents: AgentOverview[];
  onChange(filter: AgentFilter): void;
}

function Filters({ filter, agents, onChange }: FiltersProps) {
  const repositories = useMemo(
    () => [...new Set(agents.flatMap(({ repos = [] }) => repos.map(({ url }) => repositoryName(url))))].sort(),
    [agents],
  );
  const without = (name: keyof AgentFilter): AgentFilter => ({ ...filter, [name]: undefined });
  const toggle = (name: "archived" | "sdk") => (filter[name] ? without(name) : { ...filter, [name]: true });
  return (
    <div className="filters">
      <label className="search">
        <Icon name="search" />
        <input
          type="search"
          className="input"
          placeholder="Search agents"
          aria-label="Search agents"
          data-search
          value={filter.q ?? ""}
          onChange={({ target }) => onChange(target.value === "" ? without("q") : { ...filter, q: target.value })}
        />
        <Keys>/</Keys>
      </label>
      <select
        className="input select"
        aria-label="Repository"
        value={filter.repository ?? ""}
        onChange={({ target }) =>
          onChange(target.value === "" ? without("repository") : { ...filter, repository: target.value })
        }
      >
        <option value="">All repositories</option>
        {[...new Set([...repositories, ...(filter.repository === undefined ? [] : [filter.repository])])].map(
          (name) => (
            <option key={name}>{name}</option>
          ),
        )}
      </select>
      <Toggle
        isOn={filter.owner === "me"}
        onClick={() => onChange(filter.owner ? without("owner") : { ...filter, owner: "me" })}
      >
        Mine
      </Toggle>
      <Toggle isOn={filter.archived === true} onClick={() => onChange(toggle("archived"))}>
        Archived
      </Toggle>
      <Toggle isOn={filter.sdk === true} onClick={() => onChange(toggle("sdk"))}>
        SDK
      </Toggle>
    </div>
  );
}

const Toggle = ({ isOn, onClick, children }: { isOn: boolean; onClick: () => void; children: string }) => (
  <button type="button" className="toggle" aria-pressed={isOn} onClick={onClick}>
    {children}
  </button>
);
