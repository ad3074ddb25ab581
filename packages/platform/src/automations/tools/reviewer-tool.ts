// Asks people for reviews of a pull request: those that the run names, or who wrote most of what it changes; with the reason.
import type { Tool } from "@agentcli/engine";
import { z } from "zod";
import type { Inquiries, PullRequest } from "../../repositories/index.ts";
import { onPull, type PullRequestToolOptions } from "./pull-request-tools.ts";
import { done, platformTool, refused } from "./tool.ts";

export interface ReviewerToolOptions extends Pick<PullRequestToolOptions, "open" | "urlOf" | "author" | "scrub"> {
  /** Null where the host cannot be asked about its history. */
  inquiries(signal: AbortSignal): Promise<Inquiries | null>;
}

const maxReviewers = 5;
const fromHistory = 2;

const Reviewers = z.strictObject({
  number: z.int().min(1).max(999_999_999).describe("The number of the pull request"),
  reviewers: z
    .array(z.strictObject({ login: z.string().min(1).max(200), reason: z.string().min(1).max(500) }))
    .min(1)
    .max(maxReviewers)
    .optional()
    .describe("Left out: who wrote most of the latest commits of the changed files"),
});

type Reviewer = NonNullable<z.infer<typeof Reviewers>["reviewers"]>[number];

export const reviewerTool = (options: ReviewerToolOptions): Tool =>
  platformTool({
    name: "request_reviewers",
    description:
      "Ask people to review a pull request of this repository. Name them with a reason, or leave them out to have them picked from the history of the changed files. A comment tells them why.",
    arguments: Reviewers,
    onResume: "once",
    run: ({ number, reviewers }, signal) =>
      onPull(options, { number, signal }, async (pulls, pull) => {
        const found = reviewers ?? (await readHistory(await options.inquiries(signal), pull, signal));
        if (found.length === 0) return refused("The history of the changed files names no person; name reviewers.");
        const requested = await pulls.requestReviewers(
          number,
          found.map(({ login }) => login),
          signal,
        );
        const named = found.filter(({ login }) => requested.includes(login));
        if (named.length === 0) return refused(`Requested already, or not able to review: ${loginsOf(found)}.`);
        const body = ["Requested reviews:", ...named.map(({ login, reason }) => `- ${login}: ${reason}`)].join("\n");
        await pulls.comment(number, { author: options.author, body: options.scrub(body) }, signal);
        return done(`Requested reviews of ${loginsOf(named)}.`);
      }),
  });

const loginsOf = (reviewers: Reviewer[]): string => reviewers.map(({ login }) => login).join(", ");

async function readHistory(from: Inquiries | null, pull: PullRequest, signal: AbortSignal): Promise<Reviewer[]> {
  const paths = (await from?.changedPaths({ pullRequest: pull.number }, signal)) ?? [];
  const authors = (await from?.recentAuthors({ branch: pull.base, paths }, signal)) ?? [];
  return authors.slice(0, fromHistory).map(({ login, commits, path }) => ({
    login,
    reason: `wrote ${commits} of the latest commits of ${path}${paths.length > 1 ? " and other changed files" : ""}`,
  }));
}
