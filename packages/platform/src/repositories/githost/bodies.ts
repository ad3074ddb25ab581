// What is sent to the routes of pull requests. Loaded with the first request that has a body.
import { z } from "zod";

export {
  NewPullRequestComment as NewComment,
  NewPullRequestReview as NewReview,
  PullRequestChange as Change,
} from "@agentcli/protocol/api/pulls";

const text = z.string().max(65_536);
const branch = z.string().min(1).max(240);

export const NewPull = z.strictObject({
  title: z.string().min(1).max(256),
  body: text.default(""),
  head: branch,
  base: branch.optional(),
  draft: z.boolean().default(false),
});
export const NewLabels = z.strictObject({ labels: z.array(z.string().min(1).max(100)).min(1).max(20) });
export const NewStatus = z.strictObject({
  state: z.enum(["pending", "success", "failure", "error"]),
  context: z.string().min(1).max(200).default("default"),
  description: z.string().max(1000).default(""),
  targetUrl: z
    .url({ protocol: /^https?$/ })
    .max(2000)
    .nullable()
    .default(null),
});
