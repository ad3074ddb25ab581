// What runs of automations propose instead of doing it: in shadow mode, and when stored events are replayed.
import { z } from "zod";
import { Timestamp } from "./common.ts";
import { RunStatus } from "./runs.ts";

export const Proposal = z.object({
  id: z.string().describe("Of the call, unique per agent"),
  tool: z.string().describe("What the run would have done, such as comment_on_pull_request, push or write_memory"),
  arguments: z.record(z.string(), z.unknown()).describe("As the model gave them, without secrets"),
  runId: z.string(),
  createdAt: Timestamp,
});
export type Proposal = z.infer<typeof Proposal>;
export const ProposalList = z.object({ items: z.array(Proposal) });

export const RequestBacktest = z.strictObject({
  last: z.int().min(1).max(50).default(10).describe("How many of the latest events to replay"),
});
const BacktestItem = z.object({
  event: z.string().describe("Such as pull_request.opened, webhook or schedule"),
  repository: z.string().optional(),
  receivedAt: Timestamp,
  outcome: z.enum(["start", "skip", "none"]).describe("none: no trigger of the automation is for this event"),
  reason: z.string().optional().describe("Why no run was started"),
  agentId: z.string().optional(),
  runId: z.string().optional(),
  runStatus: RunStatus.optional().describe("How its run ended, once it has"),
  costUsd: z.string().optional().describe("Absent where the price of the model is not known"),
  proposals: z.array(Proposal).describe("What the run would have written, in order"),
});
export const Backtest = z.object({
  id: z.string().describe("test-<uuid>"),
  automationId: z.string(),
  last: z.int(),
  status: z.enum(["requested", "running", "done"]),
  createdAt: Timestamp,
  items: z.array(BacktestItem).describe("Latest event first; empty until a server has looked at the events"),
});
export type Backtest = z.infer<typeof Backtest>;
