// Pull requests of repositories of the embedded git host.
import { z } from "zod";
import { Timestamp } from "./common.ts";
import { RepositoryDiff } from "./diff.ts";

const text = z.string().max(65_536);
/** Of a column of the database. */
const maxNumber = 2_147_483_647;
const title = z.string().min(1).max(256);

export const PullRequestEntry = z.object({
  number: z.int(),
  title: z.string(),
  state: z.enum(["draft", "open", "merged", "closed"]),
  head: z.string().describe("The branch with the changes"),
  base: z.string().describe("The branch that they go to"),
  author: z.string(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type PullRequestEntry = z.infer<typeof PullRequestEntry>;

export const PullRequestQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  before: z.coerce.number().int().min(1).max(maxNumber).optional().describe("Only those with a lower number"),
});
export type PullRequestQuery = z.infer<typeof PullRequestQuery>;

export const PullRequestPage = z.object({
  items: z.array(PullRequestEntry),
  nextBefore: z.int().optional().describe("`before` of the next page; absent on the last one"),
});
export type PullRequestPage = z.infer<typeof PullRequestPage>;

export const PullRequestComment = z.object({
  ...{ id: z.int(), author: z.string(), body: z.string(), createdAt: Timestamp },
  path: z.string().optional().describe("Absent where it is on the pull request as a whole"),
  line: z.int().optional().describe("Of the file after the changes"),
});
export type PullRequestComment = z.infer<typeof PullRequestComment>;

export const PullRequestReview = z.object({
  ...{ id: z.int(), author: z.string(), body: z.string(), createdAt: Timestamp },
  verdict: z.enum(["approved", "changes_requested", "commented", "dismissed"]),
});
export type PullRequestReview = z.infer<typeof PullRequestReview>;

export const PullRequestCheck = z.object({
  context: z.string(),
  state: z.enum(["pending", "success", "failure", "error"]),
  description: z.string(),
  targetUrl: z.string().nullable(),
  createdAt: Timestamp,
});

export const PullRequestDetails = PullRequestEntry.extend({
  url: z.string().describe("What an agent's pull requests are named by"),
  body: z.string(),
  labels: z.array(z.string()),
  headCommit: z.string().optional().describe("Absent where the branch is gone"),
  checks: z.array(PullRequestCheck).describe("Of the head commit"),
  comments: z.array(PullRequestComment),
  reviews: z.array(PullRequestReview),
});
export type PullRequestDetails = z.infer<typeof PullRequestDetails>;

export const PullRequestDiff = RepositoryDiff.pick({ patch: true, truncated: true, patchBytes: true });
export type PullRequestDiff = z.infer<typeof PullRequestDiff>;

export const PullRequestChange = z
  .strictObject({
    title: title.optional(),
    body: text.optional(),
    draft: z.boolean().optional(),
    state: z.enum(["open", "closed"]).optional(),
  })
  .meta({ id: "PullRequestChange" });

export const NewPullRequestComment = z
  .union([
    z.strictObject({ body: text.min(1) }),
    z.strictObject({ body: text.min(1), path: z.string().min(1).max(4096), line: z.int().min(1).max(maxNumber) }),
  ])
  .meta({ id: "NewPullRequestComment" });

export const PullRequestMerge = z
  .strictObject({
    headCommit: z
      .string()
      .regex(/^[0-9a-f]{40}$/)
      .optional()
      .describe("What was looked at: if there are newer commits, nothing is merged"),
  })
  .meta({ id: "PullRequestMerge" });

export const NewPullRequestReview = z
  .strictObject({ verdict: z.enum(["approved", "changes_requested", "commented"]), body: text.default("") })
  .meta({ id: "NewPullRequestReview" });
