// What is sent to the routes of pull requests. Loaded with the first request that has a body.
import { z } from "zod";

const text = z.string().max(65_536);
const branch = z.string().min(1).max(240);

export const NewPull = z.strictObject({
  title: z.string().min(1).max(256),
  body: text.default(""),
  head: branch,
  base: branch.optional(),
  draft: z.boolean().default(false),
});
export const Change = z.strictObject({
  title: z.string().min(1).max(256).optional(),
  body: text.optional(),
  draft: z.boolean().optional(),
  state: z.enum(["open", "closed"]).optional(),
});
export const NewComment = z.union([
  z.strictObject({ body: text.min(1) }),
  z.strictObject({ body: text.min(1), path: z.string().min(1).max(4096), line: z.int().min(1) }),
]);
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
export const NewReview = z.strictObject({
  verdict: z.enum(["approved", "changes_requested", "commented"]),
  body: text.default(""),
});
