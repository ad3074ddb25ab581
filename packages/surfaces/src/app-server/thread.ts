// What clients have seen of a thread: a fold of its log, plus what is still streaming.

import type { Scrub } from "@agentcli/engine";
import type { CallBlock, PatchEdit } from "@agentcli/protocol";
import type { ThreadItem, ThreadStatus, TokenUsageBreakdown, Turn } from "@agentcli/protocol/app-server";
import type { StreamedText } from "../streamed.ts";
import { openBudget, type TurnBudget } from "./budget.ts";
import type { Notice } from "./notice.ts";

export interface ViewOptions {
  threadId: string;
  /** For text that is shown before it is recorded. */
  scrub: Scrub;
  /** Milliseconds since 1970. */
  now(): number;
  /** Context window of the model in tokens; null if it is not known. */
  contextWindow(): number | null;
}

export interface ShownThread extends ViewOptions {
  cwd: string;
  shell: string;
  turns: Turn[];
  /** The open turn. */
  turn: Turn | null;
  /** When it began; the wire has only seconds. */
  turnStartedMs: number;
  /** The final message of a review is JSON; its text is shown when the turn ends. */
  review: boolean;
  /** Number of replies in this turn, part of the ids of their items. */
  replies: number;
  /** How many blocks of the streaming reply are complete. */
  streamed: Record<StreamedItem["kind"], number>;
  /** The streaming reply, by the id its item will have. */
  streams: Map<string, StreamedItem>;
  calls: Map<string, CallInView>;
  /** Commands that outlived their call, by session id. */
  sessions: Map<number, CallInView>;
  /** Calls of the last reply that are not settled. */
  open: Set<string>;
  /** Sent when the calls of its reply are settled. */
  heldUsage: Notice[];
  usage: { total: TokenUsageBreakdown; last: TokenUsageBreakdown };
  budget: TurnBudget;
  /** Why the thread waits for the user, by call. */
  waiting: Map<string, Extract<ThreadStatus, { type: "active" }>["activeFlags"][number]>;
  edits: PatchEdit[];
}

export interface StreamedItem {
  kind: "message" | "reasoning";
  text: StreamedText;
  /** `earlier`: the attempt failed, and the next one starts the item again. */
  attempt: "this" | "earlier";
}

export interface CallInView {
  callId: string;
  block: CallBlock;
  item: ThreadItem | null;
  hasBegun: boolean;
  output: StreamedText;
  args: unknown;
}

export const emptyShown = (options: ViewOptions): ShownThread => ({
  ...options,
  cwd: "/",
  shell: "/bin/sh",
  turns: [],
  turn: null,
  turnStartedMs: 0,
  review: false,
  replies: 0,
  streamed: noneStreamed(),
  streams: new Map(),
  calls: new Map(),
  sessions: new Map(),
  open: new Set(),
  heldUsage: [],
  usage: { total: noTokens(), last: noTokens() },
  budget: openBudget(undefined),
  waiting: new Map(),
  edits: [],
});

export const noneStreamed = (): ShownThread["streamed"] => ({ message: 0, reasoning: 0 });

const noTokens = (): TokenUsageBreakdown => ({
  totalTokens: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
});

export const turnIds = ({ threadId, turn }: ShownThread): { threadId: string; turnId: string } => ({
  threadId,
  turnId: turn?.id ?? "",
});

/** Adds the item to the turn, or replaces the item with the same id. */
export function startItem(shown: ShownThread, item: ThreadItem, atMs: number): Notice {
  setItem(shown, item);
  return { method: "item/started", params: { item, ...turnIds(shown), startedAtMs: atMs } };
}

export function completeItem(shown: ShownThread, item: ThreadItem, atMs: number): Notice {
  setItem(shown, item);
  return { method: "item/completed", params: { item, ...turnIds(shown), completedAtMs: atMs } };
}

/** For an item that is complete when it is first shown. */
export const wholeItem = (shown: ShownThread, item: ThreadItem, atMs: number): Notice[] => [
  startItem(shown, item, atMs),
  completeItem(shown, item, atMs),
];

function setItem({ turn }: ShownThread, item: ThreadItem): void {
  if (!turn) return;
  const index = turn.items.findIndex(({ id }) => id === item.id);
  if (index === -1) turn.items.push(item);
  else turn.items[index] = item;
}

export function statusOf({ turn, waiting }: ShownThread): ThreadStatus {
  return turn ? { type: "active", activeFlags: [...new Set(waiting.values())] } : { type: "idle" };
}

export const statusNotice = (shown: ShownThread): Notice => ({
  method: "thread/status/changed",
  params: { threadId: shown.threadId, status: statusOf(shown) },
});
