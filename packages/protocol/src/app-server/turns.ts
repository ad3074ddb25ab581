// Turns: requests that start, steer and interrupt them, and their shape.
import { z } from "zod";
import { TurnError } from "./errors.ts";
import { ThreadItem, UserInput } from "./items.ts";
import { JsonValue, maybe, whole } from "./maybe.ts";
import { ApprovalsReviewer, AskForApproval, SandboxPolicy } from "./policies.ts";

export const TurnStatus = z.enum(["inProgress", "completed", "interrupted", "failed"]);
export type TurnStatus = z.infer<typeof TurnStatus>;

export const Turn = z.object({
  id: z.string(),
  items: z.array(ThreadItem),
  itemsView: z.enum(["notLoaded", "summary", "full"]),
  status: TurnStatus,
  error: maybe(TurnError),
  startedAt: maybe(whole).describe("Seconds since 1970"),
  completedAt: maybe(whole).describe("Seconds since 1970"),
  durationMs: maybe(whole),
});
export type Turn = z.infer<typeof Turn>;

export const TurnStartParams = z.object({
  threadId: z.string(),
  input: z.array(UserInput),
  cwd: maybe(z.string()),
  approvalPolicy: maybe(AskForApproval),
  approvalsReviewer: maybe(ApprovalsReviewer),
  sandboxPolicy: maybe(SandboxPolicy),
  model: maybe(z.string()),
  effort: maybe(z.string()),
  summary: maybe(z.enum(["auto", "concise", "detailed", "none"])),
  personality: maybe(z.enum(["none", "friendly", "pragmatic"])),
  serviceTier: maybe(z.string()),
  outputSchema: maybe(JsonValue).describe("Applies to this turn only; the other members also apply to later turns"),
  clientUserMessageId: maybe(z.string()),
});
export type TurnStartParams = z.infer<typeof TurnStartParams>;
export const TurnStartResponse = z.object({ turn: Turn });

export const TurnSteerParams = z.object({
  threadId: z.string(),
  input: z.array(UserInput),
  expectedTurnId: z.string(),
  clientUserMessageId: maybe(z.string()),
});
export const TurnSteerResponse = z.object({ turnId: z.string() });

export const TurnInterruptParams = z.object({ threadId: z.string(), turnId: z.string() });
export const TurnInterruptResponse = z.object({});

export const ReviewTarget = z.discriminatedUnion("type", [
  z.object({ type: z.literal("uncommittedChanges") }),
  z.object({ type: z.literal("baseBranch"), branch: z.string() }),
  z.object({ type: z.literal("commit"), sha: z.string(), title: maybe(z.string()) }),
  z.object({ type: z.literal("custom"), instructions: z.string() }),
]);
export type ReviewTarget = z.infer<typeof ReviewTarget>;

export const ReviewStartParams = z.object({
  threadId: z.string(),
  target: ReviewTarget,
  delivery: maybe(z.enum(["inline", "detached"])),
});
export const ReviewStartResponse = z.object({ turn: Turn, reviewThreadId: z.string() });
