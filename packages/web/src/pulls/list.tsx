// The pull requests of a repository of the embedded git host.
import type { PullRequestEntry } from "@agentcli/protocol/api";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useRef } from "react";
import { useListKeys } from "../agents/list-keys.ts";
import { Button } from "../components/controls.tsx";
import { Empty } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { Loaded } from "../components/page.tsx";
import { PullStateBadge } from "../components/pull-state.tsx";
import { Moment } from "../components/time.tsx";
import { pullsQuery } from "./queries.ts";

export function PullsPage() {
  const { name } = useParams({ from: "/repositories/$name" });
  const query = useInfiniteQuery(pullsQuery(name));
  const list = useRef<HTMLUListElement>(null);
  useListKeys(list);
  return (
    <>
      <Loaded query={query}>
        {({ pages }) =>
          pages[0]?.items.length === 0 ? (
            <Empty icon="pull" title="No pull requests yet">
              <p>An agent opens one when it has pushed commits, and so does a push with a pull request of your own.</p>
            </Empty>
          ) : (
            <ul className="rows" ref={list}>
              {pages.flatMap(({ items }) => items.map((pull) => <PullRow key={pull.number} name={name} pull={pull} />))}
            </ul>
          )
        }
      </Loaded>
      {query.hasNextPage && (
        <Button isBusy={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
          Show older ones
        </Button>
      )}
    </>
  );
}

const PullRow = ({ name, pull }: { name: string; pull: PullRequestEntry }) => (
  <li className="row" data-pull={pull.number}>
    <Icon name="pull" />
    <div className="row-main">
      <Link
        className="row-name"
        to="/repositories/$name/pulls/$number"
        params={{ name, number: String(pull.number) }}
        data-row
      >
        {pull.title} <span className="soft">#{pull.number}</span>
      </Link>
      <span className="row-facts">
        <span className="fact fact-branch">
          <Icon name="branch" size={14} />
          {pull.head}
        </span>
        <span className="fact">{pull.author}</span>
      </span>
    </div>
    <div className="row-end">
      <PullStateBadge state={pull.state} />
      <span className="row-time">
        <Moment at={pull.updatedAt} />
      </span>
    </div>
  </li>
);
