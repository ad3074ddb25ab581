// Notifications of the server about threads, turns and items.
import { z } from "zod";
import { HookSource } from "./catalogues.ts";
import { TurnError } from "./errors.ts";
import { RequestId } from "./handshake.ts";
import { FileUpdateChange, ThreadItem } from "./items.ts";
import { maybe, whole } from "./maybe.ts";
import { Thread, ThreadStatus } from "./threads.ts";
import { Turn } from "./turns.ts";

const threadId = z.string();
const turnId = z.string();
const itemReference = { threadId, turnId, itemId: z.string() };

export const ErrorNotification = z.object({ error: TurnError, willRetry: z.boolean(), threadId, turnId });
export const WarningNotification = z.object({ threadId: maybe(threadId), message: z.string() });
export const ConfigWarningNotification = z.object({
  summary: z.string(),
  details: maybe(z.string()),
  path: maybe(z.string()),
});
export const DeprecationNoticeNotification = z.object({ summary: z.string(), details: maybe(z.string()) });

export const ThreadStartedNotification = z.object({ thread: Thread });
export const ThreadStatusChangedNotification = z.object({ threadId, status: ThreadStatus });
export const ThreadIdNotification = z.object({ threadId });
export const ThreadNameUpdatedNotification = z.object({ threadId, threadName: maybe(z.string()) });

export const TokenUsageBreakdown = z.object({
  totalTokens: whole,
  inputTokens: whole,
  cachedInputTokens: whole,
  cacheWriteInputTokens: whole,
  outputTokens: whole,
  reasoningOutputTokens: whole,
});
export type TokenUsageBreakdown = z.infer<typeof TokenUsageBreakdown>;
export const ThreadTokenUsageUpdatedNotification = z.object({
  threadId,
  turnId,
  tokenUsage: z.object({
    total: TokenUsageBreakdown,
    last: TokenUsageBreakdown,
    modelContextWindow: maybe(whole),
    budget: maybe(z.object({ name: z.enum(["usd", "tokens", "turns", "tools"]), used: z.number() })).describe(
      "The part of the budget of the turn that is nearest to its end, and how much of it is used (1: all), without sub-agents",
    ),
  }),
});
export const ContextCompactedNotification = z.object({ threadId, turnId });

export const TurnNotification = z.object({ threadId, turn: Turn });
export const TurnDiffUpdatedNotification = z.object({ threadId, turnId, diff: z.string() });
export const TurnPlanUpdatedNotification = z.object({
  threadId,
  turnId,
  explanation: maybe(z.string()),
  plan: z.array(z.object({ step: z.string(), status: z.enum(["pending", "inProgress", "completed"]) })),
});

export const ItemStartedNotification = z.object({ item: ThreadItem, threadId, turnId, startedAtMs: whole });
export const ItemCompletedNotification = z.object({ item: ThreadItem, threadId, turnId, completedAtMs: whole });
export const ItemDeltaNotification = z.object({ ...itemReference, delta: z.string() });
export const ReasoningSummaryTextDeltaNotification = z.object({
  ...itemReference,
  delta: z.string(),
  summaryIndex: whole,
});
export const ReasoningSummaryPartAddedNotification = z.object({ ...itemReference, summaryIndex: whole });
export const ReasoningTextDeltaNotification = z.object({ ...itemReference, delta: z.string(), contentIndex: whole });
export const TerminalInteractionNotification = z.object({
  ...itemReference,
  processId: z.string(),
  stdin: z.string(),
});
export const FileChangePatchUpdatedNotification = z.object({ ...itemReference, changes: z.array(FileUpdateChange) });
export const McpToolCallProgressNotification = z.object({ ...itemReference, message: z.string() });

export const HookRunSummary = z.object({
  id: z.string(),
  eventName: z.string().describe("In camel case: preToolUse, stop, …"),
  handlerType: z.enum(["command", "prompt", "agent", "mcpTool"]),
  executionMode: z.enum(["sync", "async"]),
  scope: z.enum(["thread", "turn"]),
  sourcePath: z.string(),
  source: HookSource,
  displayOrder: whole,
  status: z.enum(["running", "completed", "failed", "blocked", "stopped"]),
  statusMessage: maybe(z.string()),
  startedAt: whole,
  completedAt: maybe(whole),
  durationMs: maybe(whole),
  entries: z.array(z.object({ kind: z.enum(["warning", "stop", "feedback", "context", "error"]), text: z.string() })),
});
export type HookRunSummary = z.infer<typeof HookRunSummary>;
export const HookNotification = z.object({ threadId, turnId: maybe(turnId), run: HookRunSummary });

export const ServerRequestResolvedNotification = z.object({
  threadId,
  requestId: RequestId,
});
export const McpServerStatusUpdatedNotification = z.object({
  threadId: maybe(threadId),
  name: z.string(),
  status: z.enum(["starting", "ready", "failed", "cancelled"]),
  error: maybe(z.string()),
  failureReason: maybe(z.string()),
});
export const McpServerOauthLoginCompletedNotification = z.object({
  name: z.string(),
  success: z.boolean(),
  error: maybe(z.string()),
  threadId: maybe(threadId),
});
export const SkillsChangedNotification = z.object({});
