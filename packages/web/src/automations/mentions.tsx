// Comments that mentioned the platform and started nothing, with the reason.
import type { Mention } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { Moment } from "../components/time.tsx";
import { refusedMentionsQuery } from "./queries.ts";

/** Nothing where there are none. */
export function RefusedMentions() {
  const { data } = useQuery(refusedMentionsQuery);
  if (data === undefined || data.items.length === 0) return null;
  return (
    <section aria-labelledby="refused-mentions">
      <h2 id="refused-mentions">Refused mentions</h2>
      <ul className="rows">
        {data.items.map((mention) => (
          <MentionRow key={mention.id} mention={mention} />
        ))}
      </ul>
    </section>
  );
}

const kindWords: Record<Mention["kind"], string> = { pull_request: "Pull request", issue: "Issue" };

const MentionRow = ({ mention: { id, sender, repository, kind, number, reason, createdAt } }: { mention: Mention }) => (
  <li className="row" data-mention={id}>
    <div className="row-main">
      <span className="row-name">
        {sender} in {repository}
      </span>
      <span className="row-facts">
        <span>
          {kindWords[kind]} {number}
        </span>
        <span>{reason}</span>
      </span>
    </div>
    <div className="row-end">
      <Moment at={createdAt} />
    </div>
  </li>
);
