// A link to a pull request, with its state.
import type { PullRequestLink } from "@agentcli/protocol/api";
import { Icon } from "./icon.tsx";

const words = { draft: "Draft", open: "Open", merged: "Merged", closed: "Closed" } as const;

/** Only addresses of the web are links: the text comes from outside. */
export function PullLink({ pull: { url, page, number, state } }: { pull: PullRequestLink }) {
  const text = number === undefined ? "Pull request" : `#${number}`;
  const content = (
    <>
      <Icon name="pull" size={14} />
      {text}
      {state && <span className="pull-state">{words[state]}</span>}
    </>
  );
  const className = `pull pull-${state ?? "unknown"}`;
  const target = page ?? (/^https?:\/\//.test(url) ? url : null);
  if (target === null) return <span className={className}>{content}</span>;
  return (
    <a className={className} href={target} rel="noreferrer">
      {content}
    </a>
  );
}
