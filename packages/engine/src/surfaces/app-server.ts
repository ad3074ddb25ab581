// The log as what clients of the app server are told: items, turns and notifications. Replaying a log gives the same turns.
import type { RecordOf, TurnEnd } from "@agentcli/protocol";
import type { ThreadStatus, Turn } from "@agentcli/protocol/app-server";
import type { StoredRecord } from "../ports.ts";
import type { Progress } from "../running.ts";
import { wordsOf } from "../state.ts";
import { approval, begun, endSessions, printed, runningItems, settled } from "./app-server/calls.ts";
import { turnError } from "./app-server/errors.ts";
import { hookNotices } from "./app-server/hooks.ts";
import { contentOf } from "./app-server/items.ts";
import type { Notice } from "./app-server/notice.ts";
import {
  abandonReply,
  chargeUsage,
  releaseUsage,
  replied,
  restartReply,
  streamedItems,
  streamReply,
} from "./app-server/replies.ts";
import {
  emptyShown,
  place,
  type Shown,
  statusNotice,
  statusOf,
  type ViewOptions,
  wholeItem,
} from "./app-server/thread.ts";

export { patchedPaths } from "../patch/paths.ts";
export { itemIdOf, shownCommand } from "./app-server/items.ts";
export type { Notice } from "./app-server/notice.ts";
export type { ViewOptions } from "./app-server/thread.ts";

export interface ThreadView {
  /** Takes a record in and answers with what is to be told about it, in order. */
  apply(stored: StoredRecord): Notice[];
  /** The same for what is on its way and not in the log. */
  progress(progress: Progress): Notice[];
  /** Everything so far, what is on its way included. What is told from now on follows exactly on this. */
  turns(): Turn[];
  status(): ThreadStatus;
}

export function threadView(options: ViewOptions): ThreadView {
  const shown = emptyShown(options);
  return {
    apply: (stored) => project(shown, stored),
    progress: (progress) => look(shown, progress),
    turns: () => shown.turns.map((turn) => (turn === shown.turn ? withRunning(shown, turn) : copy(turn))),
    status: () => statusOf(shown),
  };
}

function project(shown: Shown, { seq, at, record }: StoredRecord): Notice[] {
  const atMs = Date.parse(at);
  switch (record.type) {
    case "thread.created":
      return [];
    case "turn.begun":
      return turnBegun(shown, seq, record, atMs);
    case "input.added":
      return inputAdded(shown, seq, record, atMs);
    case "model.replied":
      return replied(shown, seq, record, atMs);
    case "tool.begun":
      return begun(shown, record, atMs);
    case "tool.settled":
      return settled(shown, record, atMs);
    case "context.compacted":
      return compacted(shown, seq, record, atMs);
    case "noted":
      return noted(shown, seq, record, atMs);
    case "turn.ended":
      return turnEnded(shown, record.end, atMs);
  }
}

function look(shown: Shown, progress: Progress): Notice[] {
  switch (progress.type) {
    case "text":
      return streamReply(shown, "message", progress.delta);
    case "reasoning":
      return streamReply(shown, "reasoning", progress.delta);
    case "output":
      return printed(shown, progress.callId, progress.text);
    case "retrying":
      return restartReply(shown);
    case "calling":
    case "settled":
      return [];
  }
}

function turnBegun(shown: Shown, seq: number, record: RecordOf<"turn.begun">, atMs: number): Notice[] {
  const { turnId, settings, review, input, clientId } = record;
  const turn: Turn = { id: turnId, items: [], itemsView: "full", status: "inProgress", startedAt: seconds(atMs) };
  shown.turns.push(turn);
  const { cwd, shell } = settings;
  Object.assign(shown, { turn, cwd, shell, replies: 0, review: review !== undefined, edits: [] });
  const started: Notice = { method: "turn/started", params: { threadId: shown.threadId, turn: bare(turn) } };
  const prompt = review
    ? ({ id: `review-${seq}`, type: "enteredReviewMode", review: wordsOf(input) } as const)
    : ({ id: `user-${seq}`, type: "userMessage", content: contentOf(input), clientId: clientId ?? null } as const);
  return [statusNotice(shown), started, ...(record.compaction ? [] : wholeItem(shown, prompt, atMs))];
}

function inputAdded(shown: Shown, seq: number, record: RecordOf<"input.added">, atMs: number): Notice[] {
  const { origin, input, clientId } = record;
  if (!shown.turn) return [];
  if (origin === "user") {
    const content = contentOf(input);
    return wholeItem(shown, { id: `user-${seq}`, type: "userMessage", content, clientId: clientId ?? null }, atMs);
  }
  if (origin !== "hook") return [];
  const fragments = [{ hookRunId: `hook-${seq}`, text: wordsOf(input) }];
  return wholeItem(shown, { id: `hook-${seq}`, type: "hookPrompt", fragments }, atMs);
}

function compacted(shown: Shown, seq: number, record: RecordOf<"context.compacted">, atMs: number): Notice[] {
  const usage = chargeUsage(shown, record.usage);
  if (!shown.turn) return [];
  return [
    ...wholeItem(shown, { id: `compaction-${seq}`, type: "contextCompaction" }, atMs),
    { method: "thread/compacted", params: place(shown) },
    usage,
  ];
}

function noted(shown: Shown, seq: number, record: RecordOf<"noted">, atMs: number): Notice[] {
  const { kind, data } = record;
  const { threadId } = shown;
  if (kind === "approval") return approval(shown, record, atMs);
  if (kind === "hook") return hookNotices(shown, seq, data, atMs);
  // What follows is a word about the work so far, not the review.
  if (kind === "budget") shown.review = false;
  if (kind === "retry") return [retryNotice(shown, data)];
  const warns = (kind === "warning" || kind === "policy") && data.message !== undefined;
  return warns ? [{ method: "warning", params: { threadId, message: String(data.message) } }] : [];
}

function retryNotice(shown: Shown, { attempt, of, reason }: RecordOf<"noted">["data"]): Notice {
  const message = `Reconnecting... ${attempt}/${of}`;
  const error = { ...turnError(message, "stream_cut"), additionalDetails: String(reason) };
  return { method: "error", params: { error, willRetry: true, ...place(shown) } };
}

function turnEnded(shown: Shown, end: TurnEnd, atMs: number): Notice[] {
  const { turn, threadId } = shown;
  if (!turn) return [];
  const last = [...abandonReply(shown, atMs), ...endSessions(shown, atMs), ...releaseUsage(shown)];
  const review = shown.review && end.status === "completed" ? reviewItems(shown, end.message, atMs) : [];
  const error = end.status === "failed" ? turnError(end.message, end.code) : null;
  const failure: Notice[] = error ? [{ method: "error", params: { error, willRetry: false, ...place(shown) } }] : [];
  const status = end.status === "cancelled" ? "interrupted" : end.status;
  const startedMs = (turn.startedAt ?? 0) * 1000;
  Object.assign(turn, { status, error, completedAt: seconds(atMs), durationMs: Math.max(0, atMs - startedMs) });
  Object.assign(shown, { turn: null, review: false });
  shown.calls.clear();
  shown.open.clear();
  shown.waiting.clear();
  const completed: Notice = { method: "turn/completed", params: { threadId, turn: summary(turn, end) } };
  return [...last, ...review, ...failure, statusNotice(shown), completed];
}

function reviewItems(shown: Shown, text: string, atMs: number): Notice[] {
  const id = `review-${shown.turns.length}`;
  return [
    ...wholeItem(shown, { id: `${id}-end`, type: "exitedReviewMode", review: text }, atMs),
    ...wholeItem(shown, { id: `${id}-message`, type: "agentMessage", text }, atMs),
  ];
}

const seconds = (ms: number): number => Math.floor(ms / 1000);

const copy = (turn: Turn): Turn => ({ ...turn, items: [...turn.items] });

const bare = (turn: Turn): Turn => ({ ...turn, items: [], itemsView: "notLoaded" });

/** What a client needs that follows the notifications: how it ended, and the answer. */
function summary(turn: Turn, end: TurnEnd): Turn {
  const said = turn.items.findLast((item) => item.type === "agentMessage");
  // Held against a schema it may differ from what the model wrote: nulls for what is absent are gone.
  const answer = said && end.status === "completed" ? { ...said, text: end.message } : said;
  return { ...turn, items: answer ? [answer] : [], itemsView: "summary" };
}

function withRunning(shown: Shown, turn: Turn): Turn {
  const running = new Map([...streamedItems(shown), ...runningItems(shown)].map((item) => [item.id, item]));
  return { ...turn, items: turn.items.map((item) => running.get(item.id) ?? item) };
}
