// One repository of the embedded git host: its header, which stays in view, and the tabs below it.
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useParams } from "@tanstack/react-router";
import { useTitle } from "../api/use-inbox.ts";
import { Failure, Skeleton } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { repositoryQuery } from "./queries.ts";

export function RepositoryPage() {
  const { name } = useParams({ from: "/repositories/$name" });
  const { data, error, isPending, refetch } = useQuery(repositoryQuery(name));
  useTitle(name);
  if (isPending) return <Skeleton lines={5} />;
  if (!data) return <Failure error={error} retry={() => refetch()} />;
  return (
    <div className="page page-repository">
      <header className="agent-header">
        <div className="agent-title">
          <Link className="icon-button agent-back" to="/repositories" aria-label="All repositories">
            <Icon name="chevron" />
          </Link>
          <h1>{name}</h1>
          <div className="agent-actions">
            <Link className="button button-plain" to="/agents/new" search={{ repository: data.url }}>
              <Icon name="agents" /> Start an agent here
            </Link>
          </div>
        </div>
        <p className="agent-facts">
          <span className="fact">
            <Icon name="branch" size={14} /> {data.defaultBranch}
          </span>
          <code>git clone {data.url}</code>
        </p>
        <nav className="tabs" aria-label="Repository">
          <Link
            className="tab"
            to="/repositories/$name"
            params={{ name }}
            activeOptions={{ exact: true, includeSearch: false }}
          >
            Files
          </Link>
          <Link
            className="tab"
            to="/repositories/$name/commits"
            params={{ name }}
            activeOptions={{ includeSearch: false }}
          >
            Commits
          </Link>
          <Link className="tab" to="/repositories/$name/pulls" params={{ name }}>
            Pull requests
          </Link>
        </nav>
      </header>
      <Outlet />
    </div>
  );
}
