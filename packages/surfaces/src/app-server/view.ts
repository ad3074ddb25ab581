// The log as clients of the app server see it: items, turns and notifications. Replaying a log gives the same turns.

import type { Progress, StoredRecord } from "@agentcli/engine";
import { answerOf, textOf } from "@agentcli/engine";
import type { NoteData, Noted, RecordOf, TurnEnd } from "@agentcli/protocol";
import type { ThreadStatus, Turn } from "@agentcli/protocol/app-server";
import { openBudget } from "./budget.ts";
import { approval, begun, endSessions, printed, runningItems, settled } from "./calls.ts";
import { turnError } from "./errors.ts";
import { hookNotices } from "./hooks.ts";
import { contentOf } from "./items.ts";
import type { Notice } from "./notice.ts";
import {
  abandonReply,
  chargeUsage,
  endStreamed,
  releaseUsage,
  replied,
  restartReply,
  streamedItems,
  streamReply,
} from "./replies.ts";
import {
  emptyShown,
  type ShownThread,
  statusNotice,
  statusOf,
  turnIds,
  type ViewOptions,
  wholeItem,
} from "./thread.ts";

export interface ThreadView {
  /** Applies a record and returns its notifications, in order. */
  apply(stored: StoredRecord): Notice[];
  /** The same for progress that is not in the log. */
  progress(progress: Progress): Notice[];
  /** Everything so far, running items included. Later notifications continue exactly from here. */
  turns(): Turn[];
  status(): ThreadStatus;
}

export function threadView(options: ViewOptions): ThreadView {
  const shown = emptyShown(options);
  return {
    apply: (stored) => project(shown, stored),
    progress: (progress) => showProgress(shown, progress),
    turns: () => shown.turns.map((turn) => (turn === shown.turn ? withRunning(shown, turn) : copy(turn))),
    status: () => statusOf(shown),
  };
}

function project(shown: ShownThread, { seq, at, record }: StoredRecord): Notice[] {
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

function showProgress(shown: ShownThread, progress: Progress): Notice[] {
  switch (progress.type) {
    case "text":
      return streamReply(shown, "message", progress.delta);
    case "reasoning":
      return streamReply(shown, "reasoning", progress.delta);
    case "output":
      return printed(shown, progress.callId, progress.text);
    case "retrying":
      return restartReply(shown);
    case "settled":
      return endStreamed(shown, progress.block);
    case "calling":
    case "hook":
      return [];
  }
}

function turnBegun(shown: ShownThread, seq: number, record: RecordOf<"turn.begun">, atMs: number): Notice[] {
  const { turnId, settings, review, input, clientId } = record;
  const turn: Turn = { id: turnId, items: [], itemsView: "full", status: "inProgress", startedAt: seconds(atMs) };
  shown.turns.push(turn);
  const { cwd, shell } = settings;
  shown.budget = openBudget(settings.budget);
  Object.assign(shown, { turn, turnStartedMs: atMs, cwd, shell, replies: 0, review: review !== undefined, edits: [] });
  const started: Notice = { method: "turn/started", params: { threadId: shown.threadId, turn: bare(turn) } };
  const prompt = review
    ? ({ id: `review-${seq}`, type: "enteredReviewMode", review: textOf(input) } as const)
    : ({ id: `user-${seq}`, type: "userMessage", content: contentOf(input), clientId: clientId ?? null } as const);
  return [statusNotice(shown), started, ...(record.compaction ? [] : wholeItem(shown, prompt, atMs))];
}

function inputAdded(shown: ShownThread, seq: number, record: RecordOf<"input.added">, atMs: number): Notice[] {
  const { origin, input, clientId } = record;
  if (!shown.turn) return [];
  if (origin === "user") {
    const content = contentOf(input);
    return wholeItem(shown, { id: `user-${seq}`, type: "userMessage", content, clientId: clientId ?? null }, atMs);
  }
  if (origin !== "hook") return [];
  const fragments = [{ hookRunId: `hook-${seq}`, text: textOf(input) }];
  return wholeItem(shown, { id: `hook-${seq}`, type: "hookPrompt", fragments }, atMs);
}

function compacted(shown: ShownThread, seq: number, record: RecordOf<"context.compacted">, atMs: number): Notice[] {
  const usage = chargeUsage(shown, record);
  if (!shown.turn) return [];
  return [
    ...wholeItem(shown, { id: `compaction-${seq}`, type: "contextCompaction" }, atMs),
    { method: "thread/compacted", params: turnIds(shown) },
    usage,
  ];
}

function noted(shown: ShownThread, seq: number, record: Noted, atMs: number): Notice[] {
  switch (record.kind) {
    case "approval":
      return approval(shown, record.data, atMs);
    case "hook":
      return hookNotices(shown, { seq, data: record.data, atMs });
    case "budget":
      // What follows is a report on the work so far, not the review.
      shown.review = false;
      return [];
    case "retry":
      return [retryNotice(shown, record.data)];
    case "warning":
    case "policy":
      return "message" in record.data ? [warningNotice(shown, record.data.message)] : [];
    case "sandbox":
    case "mcp":
      return [];
  }
}

const warningNotice = ({ threadId }: ShownThread, message: string): Notice => ({
  method: "warning",
  params: { threadId, message },
});

function retryNotice(shown: ShownThread, { attempt, of, reason }: NoteData<"retry">): Notice {
  const message = `Reconnecting... ${attempt}/${of}`;
  const error = { ...turnError(message, "stream_cut"), additionalDetails: reason };
  return { method: "error", params: { error, willRetry: true, ...turnIds(shown) } };
}

function turnEnded(shown: ShownThread, recorded: TurnEnd, atMs: number): Notice[] {
  const { turn, threadId } = shown;
  if (!turn) return [];
  const end = isUnanswered(turn, recorded) ? unanswered : recorded;
  const last = [...abandonReply(shown, atMs), ...endSessions(shown, atMs), ...releaseUsage(shown)];
  const review = shown.review && end.status === "completed" ? reviewItems(shown, end.message, atMs) : [];
  const error = end.status === "failed" ? turnError(end.message, end.code) : null;
  const failure: Notice[] = error ? [{ method: "error", params: { error, willRetry: false, ...turnIds(shown) } }] : [];
  const status = end.status === "cancelled" ? "interrupted" : end.status;
  const durationMs = Math.max(0, atMs - shown.turnStartedMs);
  Object.assign(turn, { status, error, completedAt: seconds(atMs), durationMs });
  Object.assign(shown, { turn: null, review: false });
  shown.calls.clear();
  shown.open.clear();
  shown.waiting.clear();
  const completed: Notice = { method: "turn/completed", params: { threadId, turn: summary(turn, end) } };
  return [...last, ...review, ...failure, statusNotice(shown), completed];
}

/** Clients look for the answer by the phase of messages: with commentary alone the turn has completed without one. */
const isUnanswered = ({ items }: Turn, end: TurnEnd): boolean =>
  end.status === "failed" && end.code === "empty" && items.some(({ type }) => type === "agentMessage");

const unanswered: TurnEnd = { status: "completed", message: "" };

function reviewItems(shown: ShownThread, text: string, atMs: number): Notice[] {
  const id = `review-${shown.turns.length}`;
  return [
    ...wholeItem(shown, { id: `${id}-end`, type: "exitedReviewMode", review: text }, atMs),
    ...wholeItem(shown, { id: `${id}-message`, type: "agentMessage", text }, atMs),
  ];
}

const seconds = (ms: number): number => Math.floor(ms / 1000);

const copy = (turn: Turn): Turn => ({ ...turn, items: [...turn.items] });

const bare = (turn: Turn): Turn => ({ ...turn, items: [], itemsView: "notLoaded" });

/** For clients that follow the notifications: the end of the turn, and the answer. */
function summary(turn: Turn, end: TurnEnd): Turn {
  const messages = turn.items.filter((item) => item.type === "agentMessage");
  const message = answerOf(messages.map((item) => ({ ...item, phase: item.phase ?? undefined })));
  // Checked against a schema it may differ from what the model wrote: nulls of absent members are removed.
  const answer = message && end.status === "completed" ? { ...message, text: end.message } : message;
  return { ...turn, items: answer ? [answer] : [], itemsView: "summary" };
}

function withRunning(shown: ShownThread, turn: Turn): Turn {
  const running = new Map([...streamedItems(shown), ...runningItems(shown)].map((item) => [item.id, item]));
  return { ...turn, items: turn.items.map((item) => running.get(item.id) ?? item) };
}
