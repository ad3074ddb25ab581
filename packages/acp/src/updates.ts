// What the agent does, as updates of the session.

import type { ThreadItem, Turn, UserInput } from "@agentcli/protocol/app-server";
import type { Notice } from "@agentcli/surfaces/app-server";
import type { ContentBlock, PlanEntryStatus, SessionUpdate } from "@agentclientprotocol/sdk";
import { type Look, outputContent, toolCallOf } from "./tool-calls.ts";
import { stopReasonOf } from "./turn.ts";

export interface Updates {
  /** Of a notification about this thread. */
  of(notice: Notice, nowMs: number): SessionUpdate[];
  /** What has happened before, in order. */
  replay(turns: Turn[]): SessionUpdate[];
  /** The item of a tool call that has begun. */
  begun(itemId: string): ThreadItem | undefined;
}

/** What is known of an item until it is over. */
interface Begun {
  item: ThreadItem;
  output: string;
  shownMs: number;
}

export function openUpdates(look: Look): Updates {
  const open = new Map<string, Begun>();
  /** Messages of which a part was sent: their end adds nothing. */
  const streamed = new Set<string>();
  const chunk = (
    itemId: string,
    kind: "agent_message_chunk" | "agent_thought_chunk",
    text: string,
  ): SessionUpdate[] => {
    streamed.add(itemId);
    return [{ sessionUpdate: kind, messageId: itemId, content: { type: "text", text } }];
  };
  return {
    begun: (itemId) => open.get(itemId)?.item,
    replay: (turns) => turns.flatMap(({ items }) => items.flatMap((item) => [...past(item, look)])),
    of(notice, nowMs) {
      switch (notice.method) {
        case "item/started":
          open.set(notice.params.item.id, { item: notice.params.item, output: "", shownMs: 0 });
          return started(notice.params.item, look);
        case "item/completed": {
          const { item } = notice.params;
          const isKnown = open.delete(item.id);
          if (streamed.delete(item.id) || item.type === "userMessage") return [];
          return isKnown ? ended(item, look) : past(item, look);
        }
        case "item/agentMessage/delta":
          return chunk(notice.params.itemId, "agent_message_chunk", notice.params.delta);
        case "item/reasoning/summaryTextDelta":
        case "item/reasoning/textDelta":
          return chunk(notice.params.itemId, "agent_thought_chunk", notice.params.delta);
        case "item/reasoning/summaryPartAdded":
          return notice.params.summaryIndex === 0 ? [] : chunk(notice.params.itemId, "agent_thought_chunk", "\n\n");
        case "item/commandExecution/outputDelta":
          return printed(open.get(notice.params.itemId), notice.params.delta, { look, nowMs });
        case "turn/plan/updated":
          return [{ sessionUpdate: "plan", entries: notice.params.plan.map(planEntry) }];
        case "thread/tokenUsage/updated":
          return usage(notice.params.tokenUsage);
        case "turn/completed":
          return limitOf(notice.params.turn);
        case "thread/name/updated":
          return [{ sessionUpdate: "session_info_update", title: notice.params.threadName ?? null }];
        default:
          return [];
      }
    },
  };
}

function started(item: ThreadItem, look: Look): SessionUpdate[] {
  const call = toolCallOf(item, look);
  return call ? [{ sessionUpdate: "tool_call", ...call }] : [];
}

function ended(item: ThreadItem, look: Look): SessionUpdate[] {
  const call = toolCallOf(item, look);
  return call ? [{ sessionUpdate: "tool_call_update", ...call }] : past(item, look);
}

/** An item that is over, of which nothing was sent. */
function past(item: ThreadItem, look: Look): SessionUpdate[] {
  switch (item.type) {
    case "userMessage":
      return item.content.map((part) => ({
        sessionUpdate: "user_message_chunk",
        messageId: item.id,
        content: contentOf(part),
      }));
    case "agentMessage":
    case "plan":
      return message(item.id, "agent_message_chunk", item.text);
    case "exitedReviewMode":
      return message(item.id, "agent_message_chunk", item.review);
    case "reasoning": {
      const parts = item.summary.some((part) => part.trim() !== "") ? item.summary : item.content;
      return message(item.id, "agent_thought_chunk", parts.join("\n\n"));
    }
    case "commandExecution":
      return commandOf(item, look);
    default:
      return started(item, look);
  }
}

const message = (
  messageId: string,
  sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
  text: string,
): SessionUpdate[] => (text === "" ? [] : [{ sessionUpdate, messageId, content: { type: "text", text } }]);

/** A terminal is begun, filled and ended like a live one. */
function commandOf(item: Extract<ThreadItem, { type: "commandExecution" }>, look: Look): SessionUpdate[] {
  if (!look.hasTerminals) return started(item, look);
  const output = item.aggregatedOutput ?? "";
  return [
    ...started({ ...item, status: "inProgress" }, look),
    ...(output === "" ? [] : [terminalOutput(item.id, output)]),
    ...(item.status === "inProgress" ? [] : ended(item, look)),
  ];
}

function contentOf(part: UserInput): ContentBlock {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image": {
      const [, mimeType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(part.url) ?? [];
      if (mimeType !== undefined && data !== undefined) return { type: "image", mimeType, data };
      return { type: "resource_link", name: "image", uri: part.url };
    }
    case "localImage":
      return { type: "resource_link", name: part.path.split("/").at(-1) ?? part.path, uri: `file://${part.path}` };
    case "skill":
    case "mention":
      return { type: "resource_link", name: part.name, uri: `file://${part.path}` };
    case "audio":
    case "localAudio":
      return { type: "text", text: "[audio]" };
  }
}

/** An editor without terminals gets the end of the output again and again: not more often than this. */
const outputMs = 250;

interface Moment {
  look: Look;
  nowMs: number;
}

function printed(begun: Begun | undefined, delta: string, { look, nowMs }: Moment): SessionUpdate[] {
  if (!begun) return [];
  const { id } = begun.item;
  if (look.hasTerminals) return [terminalOutput(id, delta)];
  begun.output = (begun.output + delta).slice(-32 * 1024);
  if (nowMs - begun.shownMs < outputMs) return [];
  begun.shownMs = nowMs;
  return [{ sessionUpdate: "tool_call_update", toolCallId: id, content: outputContent(begun.output) }];
}

const terminalOutput = (id: string, data: string): SessionUpdate => ({
  sessionUpdate: "tool_call_update",
  toolCallId: id,
  _meta: { terminal_output: { terminal_id: id, data } },
});

/** The protocol has a reason for such an end, but no words. */
const limitOf = ({ id, error }: Turn): SessionUpdate[] =>
  error && stopReasonOf(error.errorInfo) !== null ? message(`${id}-end`, "agent_message_chunk", error.message) : [];

const planStatuses: Record<string, PlanEntryStatus> = { inProgress: "in_progress", completed: "completed" };

const planEntry = ({ step, status }: { step: string; status: string }) => ({
  content: step,
  priority: "medium" as const,
  status: planStatuses[status] ?? ("pending" as const),
});

function usage({
  last,
  modelContextWindow,
}: Extract<Notice, { method: "thread/tokenUsage/updated" }>["params"]["tokenUsage"]): SessionUpdate[] {
  if (!modelContextWindow) return [];
  return [{ sessionUpdate: "usage_update", used: last.totalTokens, size: modelContextWindow }];
}
