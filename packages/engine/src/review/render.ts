// Renders a review as text: the verdict, the findings by priority, and what was not covered.
import type { Finding, Review } from "./findings.ts";

export function renderReview(review: Review, coverage: string | null): string {
  const parts = [review.overall_explanation, comments(review.findings), coverage ?? ""];
  return parts.filter((part) => part !== "").join("\n\n") || "The review ended without findings or an explanation.";
}

function comments(findings: Finding[]): string {
  if (findings.length === 0) return "";
  const header = findings.length === 1 ? "Review comment:" : "Full review comments:";
  return [header, ...[...findings].sort(byPriority).map(comment)].join("\n\n");
}

const unknownPriority = 4;

const byPriority = (left: Finding, right: Finding): number =>
  (left.priority ?? unknownPriority) - (right.priority ?? unknownPriority);

function comment(finding: Finding): string {
  const tag = finding.priority === null ? "" : `[P${finding.priority}] `;
  const body = finding.body.split("\n").map((line) => `  ${line}`.trimEnd());
  return [`- ${tag}${finding.title}${locationOf(finding)}`, ...(finding.body === "" ? [] : body)].join("\n");
}

function locationOf({ code_location: location }: Finding): string {
  if (!location) return "";
  const { start, end } = location.line_range;
  return ` — ${location.absolute_file_path}:${start}-${end}`;
}
