// What a run may do on pull requests of the repository of its automation, and of no other: comment, review, dismiss.
import type { Tool } from "@agentcli/engine";
import { z } from "zod";
import type { PullRequest, PullRequests } from "../../repositories/index.ts";
import { RepositoryFault } from "../../repositories/index.ts";
import { done, platformTool, refused, type ToolAnswer } from "./tool.ts";

export interface PullRequestToolOptions {
  /** Of the target of the automation; null if its host has none. */
  open(signal: AbortSignal): Promise<PullRequests | null>;
  /** The address of a pull request of the target. */
  urlOf(number: number): string;
  /** Whether an agent of the same automation made it. */
  isOwn(pull: PullRequest): Promise<boolean>;
  /** `others`: but not on pull requests of the automation itself. */
  approvals: "none" | "others" | "all";
  author: string;
  /** Removes secrets. */
  scrub(text: string): string;
}

const number = z.int().min(1).max(999_999_999).describe("The number of the pull request");
const body = z.string().min(1).max(60_000);
const line = { path: z.string().min(1).max(4096), line: z.int().min(1) };

export const pullRequestTools = (options: PullRequestToolOptions): Tool[] => [
  ...[commentTool(options), review(options)],
  ...(options.approvals === "none" ? [] : [dismiss(options)]),
];

export const commentTool = (options: PullRequestToolOptions): Tool =>
  platformTool({
    name: "comment_on_pull_request",
    description:
      "Comment on a pull request of this repository: as a whole, or on a line of a file at its head with path and line.",
    arguments: z.strictObject({ number, body, path: line.path.optional(), line: line.line.optional() }),
    onResume: "once",
    run: (args, signal) =>
      onPull(options, { number: args.number, signal }, async (pulls, pull) => {
        if ((args.path === undefined) !== (args.line === undefined))
          return refused("A comment on a line needs both path and line.");
        const text = { author: options.author, body: options.scrub(args.body) };
        const where =
          args.path === undefined || args.line === undefined ? {} : { path: options.scrub(args.path), line: args.line };
        await pulls.comment(pull.number, { ...text, ...where }, signal);
        return done(`Commented on pull request ${pull.number}.`);
      }),
  });

const verdicts = {
  none: "The only verdict is commented: approvals are not enabled for this automation.",
  others: "You may approve and request changes, but not on pull requests of this automation itself.",
  all: "You may approve and request changes, also on pull requests of this automation itself.",
};

/** A person decides on what the automation itself has made, unless its setting says otherwise. */
const isProtected = async ({ approvals, isOwn }: PullRequestToolOptions, pull: PullRequest): Promise<boolean> =>
  approvals !== "all" && (await isOwn(pull));

const review = (options: PullRequestToolOptions): Tool =>
  platformTool({
    name: "review_pull_request",
    description: `Review a pull request of this repository, with comments on lines of files at its head. ${verdicts[options.approvals]}`,
    arguments: z.strictObject({
      number,
      verdict: z.enum(["commented", "approved", "changes_requested"]).default("commented"),
      body: z.string().max(60_000).default(""),
      comments: z
        .array(z.strictObject({ ...line, body }))
        .max(50)
        .default([]),
    }),
    onResume: "once",
    run: (args, signal) =>
      onPull(options, { number: args.number, signal }, async (pulls, pull) => {
        const { verdict } = args;
        if (verdict !== "commented" && options.approvals === "none")
          return refused(`${verdict}: approvals are not enabled for this automation. Use the verdict commented.`);
        if (verdict !== "commented" && (await isProtected(options, pull)))
          return refused(
            `${verdict}: pull request ${pull.number} is of this automation itself; a person decides on it.`,
          );
        const { scrub, author } = options;
        const comments = args.comments.map((one) => ({ ...one, path: scrub(one.path), body: scrub(one.body) }));
        await pulls.review(pull.number, { author, verdict, body: scrub(args.body), comments }, signal);
        return done(`Reviewed pull request ${pull.number}: ${verdict}.`);
      }),
  });

const dismiss = (options: PullRequestToolOptions): Tool =>
  platformTool({
    name: "dismiss_reviews",
    description: `Dismiss the approvals and requests for changes of one reviewer on a pull request of this repository, with a reason for them.${
      options.approvals === "all" ? "" : " Not on pull requests of this automation itself."
    }`,
    arguments: z.strictObject({ number, reviewer: z.string().min(1).max(200), message: z.string().min(1).max(2000) }),
    onResume: "rerun",
    run: (args, signal) =>
      onPull(options, { number: args.number, signal }, async (pulls, pull) => {
        if (await isProtected(options, pull))
          return refused(`Pull request ${pull.number} is of this automation itself; a person decides on it.`);
        const { scrub, author } = options;
        const dismissal = { reviewer: args.reviewer, message: scrub(args.message), author };
        const count = await pulls.dismissReviews(pull.number, dismissal, signal);
        return count === 0
          ? refused(`${args.reviewer} has no approval or request for changes on pull request ${pull.number}.`)
          : done(`Dismissed ${count} of ${args.reviewer} on pull request ${pull.number}.`);
      }),
  });

/** Failures of the host are for the model, which may try something else. */
export async function onPull(
  { open, urlOf }: Pick<PullRequestToolOptions, "open" | "urlOf">,
  { number: wanted, signal }: { number: number; signal: AbortSignal },
  work: (pulls: PullRequests, pull: PullRequest) => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  try {
    const pulls = await open(signal);
    if (pulls === null) return refused("The host of the repository has no pull requests.");
    const pull = await pulls.read(urlOf(wanted), signal);
    return pull ? await work(pulls, pull) : refused(`The repository has no pull request ${wanted}.`);
  } catch (error) {
    if (!(error instanceof RepositoryFault)) throw error;
    return refused(error.message);
  }
}
