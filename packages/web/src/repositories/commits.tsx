// The history of a branch, or of one file or folder on it.
import type { CommitEntry } from "@agentcli/protocol/api";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { useRef } from "react";
import { useListKeys } from "../agents/list-keys.ts";
import { Button } from "../components/controls.tsx";
import { Empty } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { Loaded } from "../components/page.tsx";
import { Moment } from "../components/time.tsx";
import { commitsQuery, repositoryQuery } from "./queries.ts";
import { ViewBar } from "./view-bar.tsx";

export function CommitsPage() {
  const { name } = useParams({ from: "/repositories/$name" });
  const view = useSearch({ from: "/repositories/$name/commits" });
  const { data: repository } = useQuery(repositoryQuery(name));
  const query = useInfiniteQuery({ ...commitsQuery(name, view), enabled: repository?.branches.length !== 0 });
  const list = useRef<HTMLUListElement>(null);
  useListKeys(list);
  if (!repository) return null;
  if (repository.branches.length === 0) return <Empty icon="commit" title="No commits yet" />;
  return (
    <>
      <ViewBar repository={repository} view={view} to="/repositories/$name/commits" />
      <Loaded query={query}>
        {({ pages }) => (
          <ul className="rows" ref={list}>
            {pages.flatMap(({ items }) =>
              items.map((entry) => <CommitRow key={entry.commit} name={name} entry={entry} />),
            )}
          </ul>
        )}
      </Loaded>
      {query.hasNextPage && (
        <Button isBusy={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
          Show older ones
        </Button>
      )}
    </>
  );
}

const CommitRow = ({
  name,
  entry: { commit, subject, author, authoredAt, parents },
}: {
  name: string;
  entry: CommitEntry;
}) => (
  <li className="row" data-commit={commit}>
    <Icon name={parents.length > 1 ? "pull" : "commit"} />
    <div className="row-main">
      <Link className="row-name" to="/repositories/$name/commits/$commit" params={{ name, commit }} data-row>
        {subject || "No message"}
      </Link>
      <span className="row-facts">
        <span className="fact" title={author.email}>
          {author.name || author.email}
        </span>
        {parents.length > 1 && <span className="fact">Merge</span>}
      </span>
    </div>
    <div className="row-end">
      <code className="row-commit">{commit.slice(0, 10)}</code>
      <span className="row-time">
        <Moment at={authoredAt} />
      </span>
    </div>
  </li>
);
