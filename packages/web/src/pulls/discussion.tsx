// What was said about a pull request, oldest first, and a form to say more.
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
  const said = [...reviews, ...comments].sort((left, right) => left.createdAt.localeCompare(right.createdAt));
  return (
    <div className="discussion">
      {said.map(({ key, ...remark }) => (
        <Remark key={key} {...remark}>
          {"verdict" in remark && (
            <span className={`tag verdict-${remark.verdict}`}>{verdictWords[remark.verdict]}</span>
          )}
          {"path" in remark && remark.path !== undefined && (
            <code>
              {remark.path}:{remark.line}
            </code>
          )}
        </Remark>
      ))}
      <ReviewForm pull={pull} isOpen={details.state === "open" || details.state === "draft"} />
    </div>
  );
}

export interface RemarkProps {
  author: string;
  body: string;
  createdAt: string;
  /** Beside the author. */
  children?: ReactNode;
}

export const Remark = ({ author, body, createdAt, children }: RemarkProps) => (
  <article className="line-note remark">
    <p className="remark-head">
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
    await run({ method: "POST", below: "/comments", body: { body: text.trim() } });
    setText("");
  };
  const review = async (verdict: Verdict) => {
    await run({ method: "POST", below: "/reviews", body: { verdict, body: text.trim() } });
    setText("");
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
