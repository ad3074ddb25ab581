// A link to a pull request, with its state.
import type { PullRequestLink } from "@agentcli/protocol/api";
import { Link } from "@tanstack/react-router";
import { Icon } from "./icon.tsx";
import { pullWords } from "./pull-state.tsx";

/** Only addresses of the web are links: the text comes from outside. */
export function PullLink({ pull: { url, page, number, state } }: { pull: PullRequestLink }) {
  const text = number === undefined ? "Pull request" : `#${number}`;
  const content = (
    <>
      <Icon name="pull" size={14} />
      {text}
      {state && <span className="pull-state">{pullWords[state]}</span>}
    </>
  );
  const className = `pull pull-${state ?? "unknown"}`;
  if (page !== undefined)
    return (
      <Link className={className} to={page}>
        {content}
      </Link>
    );
  if (!/^https?:\/\//.test(url)) return <span className={className}>{content}</span>;
  return (
    <a className={className} href={url} rel="noreferrer">
      {content}
    </a>
  );
}
