// Environments: how the machines of agents are prepared.
import type { Environment } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef } from "react";
import { useListKeys } from "../agents/list-keys.ts";
import { environmentsQuery } from "../api/queries.ts";
import { Empty } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { Loaded, Page } from "../components/page.tsx";
import { Moment } from "../components/time.tsx";
import { repositoryName } from "../text/format.ts";

export function EnvironmentsPage() {
  const query = useQuery(environmentsQuery);
  const list = useRef<HTMLUListElement>(null);
  useListKeys(list);
  return (
    <Page title="Environments">
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="tool" title="No environments yet">
              <p>
                An environment prepares the machines of agents: packages, caches, services. Describe one in{" "}
                <code>.agentcli/environment.json</code> of a repository with <code>agentcli env init</code>, or create
                it with <code>POST /v1/environments</code>.
              </p>
            </Empty>
          ) : (
            <ul className="rows" ref={list}>
              {items.map((environment) => (
                <EnvironmentRow key={environment.id} environment={environment} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Page>
  );
}

const EnvironmentRow = ({ environment: { id, name, owner, repos, updatedAt } }: { environment: Environment }) => (
  <li className="row" data-environment={id}>
    <Icon name="tool" />
    <div className="row-main">
      <Link className="row-name" to="/environments/$id" params={{ id }} data-row>
        {name}
      </Link>
      <span className="row-facts">
        <span>{owner === "team" ? "Of the team" : "Personal"}</span>
        {repos.map(({ url }) => (
          <span key={url} className="fact" title={url}>
            <Icon name="repository" size={14} /> {repositoryName(url)}
          </span>
        ))}
      </span>
    </div>
    <div className="row-end">
      <Moment at={updatedAt} />
    </div>
  </li>
);
