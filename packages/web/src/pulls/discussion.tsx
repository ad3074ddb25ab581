// Comments and reviews of a pull request, oldest first, and a form to add one.
import type { PullRequestDetails, PullRequestReview } from "@agentcli/protocol/api";
import { type ReactNode, useState } from "react";
import { Button, Field } from "../components/controls.tsx";
import { Failure } from "../components/feedback.tsx";
import { Markdown } from "../components/markdown.tsx";
import { Moment } from "../components/time.tsx";
import type { PullName } from "./queries.ts";
import { usePullAction } from "./use-pull-action.ts";

const verdictWords: Record<PullRequestReview["verdict"], string> = {
  approved: "Approved",
  changes_requested: "Asked for changes",
  commented: "Reviewed",
  dismissed: "Dismissed",
};

export function PullDiscussion({ pull, details }: { pull: PullName; details: PullRequestDetails }) {
  const reviews = details.reviews.map((review) => ({ ...review, key: `review-${review.id}` }));
  const comments = details.comments.map((comment) => ({ ...comment, key: `comment-${comment.id}` }));
  const entries = [...reviews, ...comments].sort((left, right) => left.createdAt.localeCompare(right.createdAt));
  return (
    <div className="discussion">
      {entries.map(({ key, ...posted }) => (
        <Posted key={key} {...posted}>
          {"verdict" in posted && (
            <span className={`tag verdict-${posted.verdict}`}>{verdictWords[posted.verdict]}</span>
          )}
          {"path" in posted && posted.path !== undefined && (
            <code>
              {posted.path}:{posted.line}
            </code>
          )}
        </Posted>
      ))}
      <ReviewForm pull={pull} isOpen={details.state === "open" || details.state === "draft"} />
    </div>
  );
}

export interface PostedProps {
  author: string;
  body: string;
  createdAt: string;
  /** Beside the author. */
  children?: ReactNode;
}

export const Posted = ({ author, body, createdAt, children }: PostedProps) => (
  <article className="line-note posted">
    <p className="posted-head">
      <strong>{author}</strong> {children}{" "}
      <span className="soft">
        <Moment at={createdAt} />
      </span>
    </p>
    {body !== "" && <Markdown text={body} />}
  </article>
);

type Verdict = "approved" | "changes_requested";

function ReviewForm({ pull, isOpen }: { pull: PullName; isOpen: boolean }) {
  const [text, setText] = useState("");
  const { run, isPending, error } = usePullAction(pull);
  const isEmpty = text.trim() === "";
  const comment = async () => {
    if (await run({ method: "POST", below: "/comments", body: { body: text.trim() } })) setText("");
  };
  const review = async (verdict: Verdict) => {
    if (await run({ method: "POST", below: "/reviews", body: { verdict, body: text.trim() } })) setText("");
  };
  return (
    <form className="card" aria-label="Review" onSubmit={(event) => event.preventDefault()}>
      <Field label="Your comment">
        <textarea className="input" rows={3} value={text} onChange={({ target }) => setText(target.value)} />
      </Field>
      <div className="page-actions">
        <Button isBusy={isPending} disabled={isEmpty} onClick={comment}>
          Comment
        </Button>
        {isOpen && (
          <Button isBusy={isPending} disabled={isEmpty} onClick={() => review("changes_requested")}>
            Ask for changes
          </Button>
        )}
        {isOpen && (
          <Button icon="check" isBusy={isPending} onClick={() => review("approved")}>
            Approve
          </Button>
        )}
      </div>
      {error !== null && <Failure error={error} />}
    </form>
  );
}
