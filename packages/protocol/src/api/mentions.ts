// Mentions: comments that address the platform, and what became of them.
import { z } from "zod";
import { PageQuery, pageOf, Timestamp } from "./common.ts";

const MentionStatus = z
  .enum(["planned", "started", "refused"])
  .describe("planned: it waits for the agent, or is tried again; started: it has a run; refused: reason says why");

export const Mention = z.object({
  id: z.string(),
  status: MentionStatus,
  reason: z.string().optional().describe("Why it was refused, or what it waits for"),
  sender: z.string().describe("Whose comment it is, as the host names them"),
  repository: z.string(),
  kind: z.enum(["pull_request", "issue"]),
  number: z.int().describe("Of the pull request or the issue"),
  agentId: z.string().optional(),
  runId: z.string().optional(),
  createdAt: Timestamp,
});
export type Mention = z.infer<typeof Mention>;
export const MentionQuery = PageQuery.extend({ status: MentionStatus.optional() });
export const MentionPage = pageOf(Mention);
