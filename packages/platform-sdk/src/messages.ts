// What a run's stream says to the users of this package: frames as messages.
import type { ModelSelection, RunStatus as WireStatus } from "@agentcli/protocol/api";
import type { StreamFrame } from "./frame.ts";

interface OfRun {
  agent_id: string;
  run_id: string;
}

export interface TextBlock {
  type: "text";
  text: string;
}

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** Part of the output, and not counted in the total a second time. */
  reasoningTokens?: number;
  totalTokens: number;
}

export type SDKMessage = OfRun &
  (
    | { type: "system"; subtype: "init"; model?: ModelSelection }
    | { type: "request"; request_id: string }
    | { type: "user"; message: { role: "user"; content: TextBlock[] } }
    /** A piece of what the agent says. */
    | { type: "assistant"; message: { role: "assistant"; content: TextBlock[] } }
    | { type: "thinking"; text: string }
    | {
        type: "tool_call";
        call_id: string;
        name: string;
        status: "running" | "completed" | "error";
        args?: unknown;
        result?: unknown;
        /** Which of both was too large to be sent. */
        truncated?: { args?: true; result?: true };
      }
    /** A summary that took the place of the older part of the conversation. */
    | { type: "task"; status?: string; text?: string }
    | { type: "usage"; usage: TokenUsage }
    | { type: "status"; status: WireStatus; message?: string }
  );

type Of<Type extends SDKMessage["type"]> = Extract<SDKMessage, { type: Type }>;
export type SDKSystemMessage = Of<"system">;
export type SDKRequestMessage = Of<"request">;
export type SDKUserMessageEvent = Of<"user">;
export type SDKAssistantMessage = Of<"assistant">;
export type SDKThinkingMessage = Of<"thinking">;
export type SDKToolUseMessage = Of<"tool_call">;
export type SDKTaskMessage = Of<"task">;
export type SDKUsageMessage = Of<"usage">;
export type SDKStatusMessage = Of<"status">;

export interface Messages {
  /** What comes before anything of the stream. */
  opening(about: { requestId?: string; model?: ModelSelection }): SDKMessage[];
  of(frame: StreamFrame): SDKMessage[];
  /** How the run ended, where no frame says so. */
  closing(status: WireStatus, message?: string): SDKMessage[];
}

export function openMessages(run: { id: string; agentId: string }): Messages {
  const ids = { agent_id: run.agentId, run_id: run.id };
  let lastStatus: WireStatus | undefined;
  // Each connection begins with the status; it is news only where it changed.
  const statusOf = (status: WireStatus, message?: string): SDKMessage[] => {
    if (status === lastStatus) return [];
    lastStatus = status;
    return [{ type: "status", ...ids, status, ...(message !== undefined && { message }) }];
  };
  return {
    opening: ({ requestId, model }) => [
      { type: "system", ...ids, subtype: "init", ...(model !== undefined && { model }) },
      ...(requestId === undefined ? [] : [{ type: "request" as const, ...ids, request_id: requestId }]),
    ],
    closing: statusOf,
    of(frame) {
      switch (frame.event) {
        case "status":
          return statusOf(frame.data.status);
        case "assistant":
          return [{ type: "assistant", ...ids, message: { role: "assistant", content: [textBlock(frame.data.text)] } }];
        case "thinking":
          return [{ type: "thinking", ...ids, text: frame.data.text }];
        case "tool_call": {
          const { callId, ...call } = frame.data;
          return [{ type: "tool_call", ...ids, call_id: callId, ...call }];
        }
        case "interaction_update":
          return ofUpdate(ids, frame.data);
        case "result":
          return statusOf(frame.data.status, frame.data.error?.message);
        case "heartbeat":
        case "error":
        case "done":
          return [];
      }
    },
  };
}

type Update = Extract<StreamFrame, { event: "interaction_update" }>["data"];

function ofUpdate(ids: OfRun, update: Update): SDKMessage[] {
  if (update.type === "user-message-appended")
    return [{ type: "user", ...ids, message: { role: "user", content: [textBlock(update.userMessage.text)] } }];
  if (update.type === "summary") return [{ type: "task", ...ids, text: update.summary }];
  if (update.type === "turn-ended" && update.usage) return [{ type: "usage", ...ids, usage: usageOf(update.usage) }];
  return [];
}

const textBlock = (text: string): TextBlock => ({ type: "text", text });

export function usageOf(usage: Omit<TokenUsage, "totalTokens">): TokenUsage {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  return { ...usage, totalTokens: inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens };
}
