// Comments and reviews of a pull request as one message to the agent that opened it.

import type { PullRequestComment, PullRequestDetails, PullRequestReview } from "@agentcli/protocol/api";
import { indent } from "../text/indent.ts";

export type Remarks = (PullRequestComment | PullRequestReview)[];

/** Approvals and reviews without words ask for nothing. */
export const remarksSince = ({ comments, reviews }: PullRequestDetails, since: string): Remarks =>
  [...comments, ...reviews.filter(({ verdict, body }) => verdict !== "approved" && body !== "")]
    .filter(({ createdAt }) => createdAt > since)
    .sort((left, right) => left.createdAt.localeCompare(right.createdAt));

export function describeRemarks({ number, title }: PullRequestDetails, remarks: Remarks): string {
  const parts = remarks.map((remark, index) => {
    const where = "path" in remark && remark.path !== undefined ? `, ${remark.path} line ${remark.line}` : "";
    return `${index + 1}. ${remark.author}${where}:\n${indent(remark.body)}`;
  });
  return `Address these comments on pull request #${number} (${title}).\n\n${parts.join("\n\n")}`;
}
