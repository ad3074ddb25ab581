// Comments and reviews of a pull request as one message to the agent that opened it.

import type { PullRequestComment, PullRequestDetails, PullRequestReview } from "@agentcli/protocol/api";
import { indent } from "../text/indent.ts";

export type Feedback = (PullRequestComment | PullRequestReview)[];

/** Approvals and reviews without words ask for nothing. */
export const feedbackSince = ({ comments, reviews }: PullRequestDetails, since: string): Feedback =>
  [...comments, ...reviews.filter(({ verdict, body }) => verdict !== "approved" && body !== "")]
    .filter(({ createdAt }) => createdAt > since)
    .sort((left, right) => left.createdAt.localeCompare(right.createdAt));

export function describeFeedback({ number, title }: PullRequestDetails, feedback: Feedback): string {
  const parts = feedback.map((posted, index) => {
    const where = "path" in posted && posted.path !== undefined ? `, ${posted.path} line ${posted.line}` : "";
    return `${index + 1}. ${posted.author}${where}:\n${indent(posted.body)}`;
  });
  return `Address these comments on pull request #${number} (${title}).\n\n${parts.join("\n\n")}`;
}
