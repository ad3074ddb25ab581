// What clients have been shown of a thread so far: a fold of its log, with what is on its way beside it.
import type { CallBlock, Edit } from "@agentcli/protocol";
import type { ThreadItem, ThreadStatus, TokenUsageBreakdown, Turn } from "@agentcli/protocol/app-server";
import type { Scrub } from "../../scrub.ts";
import type { StreamedText } from "../streamed.ts";
import type { Notice } from "./notice.ts";

export interface ViewOptions {
  threadId: string;
  /** For text that is shown before it is written down. */
  scrub: Scrub;
  /** Milliseconds since 1970. */
  now(): number;
  /** Tokens the model can take in; null where nobody knows. */
  contextWindow(): number | null;
}

export interface Shown extends ViewOptions {
  cwd: string;
  shell: string;
  turns: Turn[];
  /** The turn that is open. */
  turn: Turn | null;
  /** The final message of a review is JSON; what is shown instead comes with the end of the turn. */
  review: boolean;
  /** Replies of the model in this turn: they give their items their names. */
  replies: number;
  /** The reply on its way, by the id its item will have. */
  streams: Map<string, StreamedItem>;
  calls: Map<string, CallInView>;
  /** Commands that outlived their call, by session id. */
  sessions: Map<number, CallInView>;
  /** Calls of the last reply that are not settled. */
  open: Set<string>;
  /** Told when the calls of the reply it belongs to are over. */
  heldUsage: Notice[];
  usage: { total: TokenUsageBreakdown; last: TokenUsageBreakdown };
  /** What keeps the thread waiting for a person, by call. */
  waiting: Map<string, Extract<ThreadStatus, { type: "active" }>["activeFlags"][number]>;
  edits: Edit[];
}

export interface StreamedItem {
  kind: "message" | "reasoning";
  text: StreamedText;
  /** Of an attempt that was given up: the next one begins the item again. */
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

export const emptyShown = (options: ViewOptions): Shown => ({
  ...options,
  cwd: "/",
  shell: "/bin/sh",
  turns: [],
  turn: null,
  review: false,
  replies: 0,
  streams: new Map(),
  calls: new Map(),
  sessions: new Map(),
  open: new Set(),
  heldUsage: [],
  usage: { total: noTokens(), last: noTokens() },
  waiting: new Map(),
  edits: [],
});

const noTokens = (): TokenUsageBreakdown => ({
  totalTokens: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
});

export const place = ({ threadId, turn }: Shown): { threadId: string; turnId: string } => ({
  threadId,
  turnId: turn?.id ?? "",
});

/** In the turn from now on, under its id; the same id again takes the place of what was there. */
export function startItem(shown: Shown, item: ThreadItem, atMs: number): Notice {
  keep(shown, item);
  return { method: "item/started", params: { item, ...place(shown), startedAtMs: atMs } };
}

export function completeItem(shown: Shown, item: ThreadItem, atMs: number): Notice {
  keep(shown, item);
  return { method: "item/completed", params: { item, ...place(shown), completedAtMs: atMs } };
}

/** For what is over when it is first heard of. */
export const wholeItem = (shown: Shown, item: ThreadItem, atMs: number): Notice[] => [
  startItem(shown, item, atMs),
  completeItem(shown, item, atMs),
];

function keep({ turn }: Shown, item: ThreadItem): void {
  if (!turn) return;
  const known = turn.items.findIndex(({ id }) => id === item.id);
  if (known === -1) turn.items.push(item);
  else turn.items[known] = item;
}

export function statusOf({ turn, waiting }: Shown): ThreadStatus {
  return turn ? { type: "active", activeFlags: [...new Set(waiting.values())] } : { type: "idle" };
}

export const statusNotice = (shown: Shown): Notice => ({
  method: "thread/status/changed",
  params: { threadId: shown.threadId, status: statusOf(shown) },
});
