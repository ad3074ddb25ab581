// Frames of a run's stream.
import { z } from "zod";
import { RunError, RunGit, RunStatus } from "./runs.ts";
import { ToolCall } from "./tool-calls.ts";

const ofCall = { callId: z.string(), modelCallId: z.string(), toolCall: ToolCall };

export const TurnUsage = z.object({
  inputTokens: z.int(),
  outputTokens: z.int(),
  cacheReadTokens: z.int(),
  cacheWriteTokens: z.int(),
  reasoningTokens: z.int().optional(),
});

export const InteractionUpdate = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text-delta"), text: z.string() }),
  z.object({ type: z.literal("thinking-delta"), text: z.string() }),
  z.object({ type: z.literal("thinking-completed"), thinkingDurationMs: z.number() }),
  z.object({ type: z.literal("tool-call-started"), ...ofCall }),
  z.object({ type: z.literal("tool-call-completed"), ...ofCall }),
  z.object({ type: z.literal("summary"), summary: z.string() }),
  z.object({ type: z.literal("summary-started") }),
  z.object({ type: z.literal("summary-completed") }),
  z.object({
    type: z.literal("shell-output-delta"),
    event: z.object({ callId: z.string(), case: z.literal("stdout"), value: z.object({ data: z.string() }) }),
  }),
  z.object({ type: z.literal("turn-ended"), usage: TurnUsage.optional() }),
  z.object({ type: z.literal("step-started"), stepId: z.int() }),
  z.object({ type: z.literal("step-completed"), stepId: z.int(), stepDurationMs: z.number() }),
  z.object({ type: z.literal("tool-requests-listed"), callCount: z.int() }),
  z.object({
    type: z.literal("user-message-appended"),
    userMessage: z.strictObject({ type: z.literal("user_message"), session_id: z.string(), text: z.string() }),
  }),
]);
export type InteractionUpdate = z.infer<typeof InteractionUpdate>;

export const ToolCallFrame = z.object({
  callId: z.string(),
  name: z.string(),
  status: z.enum(["running", "completed", "error"]),
  args: z.json().optional(),
  result: z.json().optional(),
  truncated: z.object({ args: z.literal(true).optional(), result: z.literal(true).optional() }).optional(),
});

/** Loose: clients that add a parameter, so that no cache answers, were always served. */
export const StreamQuery = z.looseObject({
  details: z
    .enum(["true", "false"])
    .transform((text) => text === "true")
    .default(true)
    .describe("false: without each interaction_update that repeats the event before it, under the same id"),
});

/** One frame: the event's name and its data. */
export const StreamFrame = z.discriminatedUnion("event", [
  z.object({ event: z.literal("status"), data: z.object({ runId: z.string(), status: RunStatus }) }),
  z.object({ event: z.literal("assistant"), data: z.object({ text: z.string() }) }),
  z.object({ event: z.literal("thinking"), data: z.object({ text: z.string() }) }),
  z.object({ event: z.literal("tool_call"), data: ToolCallFrame }),
  z.object({ event: z.literal("interaction_update"), data: InteractionUpdate }),
  z.object({ event: z.literal("heartbeat"), data: z.object({}) }),
  z.object({
    event: z.literal("result"),
    data: z.object({
      runId: z.string(),
      status: RunStatus,
      text: z.string().optional(),
      durationMs: z.int().optional(),
      git: RunGit.optional(),
      error: RunError.optional(),
    }),
  }),
  z.object({ event: z.literal("error"), data: z.object({ code: z.string(), message: z.string() }) }),
  z.object({ event: z.literal("done"), data: z.object({}) }),
]);
export type StreamFrame = z.infer<typeof StreamFrame>;
