// One pull request: its changes, its comments and reviews, and what can be done with it.
import type { PullRequestDetails } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useTitle } from "../api/use-inbox.ts";
import { Failure, Skeleton } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { Markdown } from "../components/markdown.tsx";
import { PullStateBadge } from "../components/pull-state.tsx";
import { Moment } from "../components/time.tsx";
import { PullActions } from "./actions.tsx";
import { AskAgent } from "./ask-agent.tsx";
import { PullChanges } from "./changes.tsx";
import { PullDiscussion } from "./discussion.tsx";
import { type PullName, pullQuery } from "./queries.ts";

export function PullPage() {
  const pull = useParams({ from: "/repositories/$name/pulls/$number" });
  const { data: details, error, isPending, refetch } = useQuery(pullQuery(pull));
  useTitle(details ? `${details.title} #${details.number}` : `#${pull.number}`);
  if (isPending) return <Skeleton lines={6} />;
  if (!details) return <Failure error={error} retry={() => refetch()} />;
  return (
    <div className="page pull-page">
      <PullHeader pull={pull} details={details} />
      {details.body !== "" && (
        <section className="card">
          <h2 className="sr-only">Description</h2>
          <Markdown text={details.body} />
        </section>
      )}
      <Checks checks={details.checks} />
      <AskAgent details={details} />
      <h2>Changes</h2>
      <PullChanges pull={pull} details={details} />
      <h2>Discussion</h2>
      <PullDiscussion pull={pull} details={details} />
    </div>
  );
}

const PullHeader = ({ pull, details }: { pull: PullName; details: PullRequestDetails }) => (
  <header className="agent-header">
    <div className="agent-title">
      <Link
        className="icon-button agent-back"
        to="/repositories/$name/pulls"
        params={{ name: pull.name }}
        aria-label={`All pull requests of ${pull.name}`}
      >
        <Icon name="chevron" />
      </Link>
      <h1>
        {details.title} <span className="soft">#{details.number}</span>
      </h1>
      <PullStateBadge state={details.state} />
      <PullActions pull={pull} details={details} />
    </div>
    <p className="agent-facts">
      <span className="fact">
        <Icon name="branch" size={14} />
        <code>{details.head}</code> into <code>{details.base}</code>
      </span>
      <span className="fact">{details.author}</span>
      <span className="fact">
        <Moment at={details.createdAt} />
      </span>
      {details.labels.map((label) => (
        <span key={label} className="tag">
          {label}
        </span>
      ))}
    </p>
  </header>
);

const checkWords = { pending: "Under way", success: "Passed", failure: "Failed", error: "Could not run" } as const;
const checkIcons = { pending: "clock", success: "check", failure: "close", error: "warning" } as const;

const Checks = ({ checks }: Pick<PullRequestDetails, "checks">) =>
  checks.length > 0 && (
    <section aria-label="Checks">
      <ul className="rows">
        {checks.map(({ context, state, description, targetUrl, createdAt }) => (
          <li key={context} className={`row check-${state}`}>
            <Icon name={checkIcons[state]} />
            <div className="row-main">
              <span className="row-name">{context}</span>
              <span className="row-facts">
                <span className="row-word">{checkWords[state]}</span>
                {description !== "" && <span className="fact">{description}</span>}
                {targetUrl !== null && (
                  <a href={targetUrl} rel="noreferrer noopener" target="_blank">
                    Details
                  </a>
                )}
              </span>
            </div>
            <div className="row-end">
              <span className="row-time">
                <Moment at={createdAt} />
              </span>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
