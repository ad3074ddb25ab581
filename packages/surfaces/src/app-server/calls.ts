// Calls of the model: awaiting approval, begun, running, settled.

import { isEditTool, proposedEdits } from "@agentcli/engine";
import type { NoteData, Outcome, PlanStep, RecordOf } from "@agentcli/protocol";
import type { ThreadItem, ThreadItemOf } from "@agentcli/protocol/app-server";
import { turnDiff } from "../diff.ts";
import { beginItem, endItem, itemIdOf, type ShownCall, unbegunCall } from "./items.ts";
import type { Notice } from "./notice.ts";
import { releaseUsage } from "./replies.ts";
import { type CallInView, completeItem, type ShownThread, startItem, statusNotice, turnIds } from "./thread.ts";

/** The item starts before the approval request, so that a client can show what the request is about. */
export function approval(shown: ShownThread, data: NoteData<"approval">, atMs: number): Notice[] {
  const { callId } = data;
  if (!("asked" in data)) {
    return shown.waiting.delete(callId) ? [statusNotice(shown)] : [];
  }
  shown.waiting.set(callId, "waitingOnApproval");
  return [...("name" in data ? begin(shown, data, atMs) : []), statusNotice(shown)];
}

export function begun(shown: ShownThread, record: ShownCall, atMs: number): Notice[] {
  const { callId, name, args } = record;
  const call = shown.calls.get(callId);
  if (call) Object.assign(call, { hasBegun: true, args });
  if (name === "write_stdin") return typed(shown, args);
  if (name !== "request_user_input") return begin(shown, record, atMs);
  shown.waiting.set(callId, "waitingOnUserInput");
  return [statusNotice(shown)];
}

/** Once for each call: an approval request may have started it. */
function begin(shown: ShownThread, record: ShownCall, atMs: number): Notice[] {
  const call = shown.calls.get(record.callId);
  const item = call && !call.item ? beginItem(record, shown) : null;
  if (!call || !item) return [];
  Object.assign(call, { item, args: record.args });
  return [startItem(shown, item, atMs)];
}

function typed(shown: ShownThread, args: unknown): Notice[] {
  const { session_id: id = -1, chars = "" } = args as { session_id?: number; chars?: string };
  const call = shown.sessions.get(id);
  if (!call || chars === "") return [];
  const params = { ...turnIds(shown), itemId: itemIdOf(call.callId), processId: String(id), stdin: chars };
  return [{ method: "item/commandExecution/terminalInteraction", params }];
}

/** Output of a command. */
export function printed(shown: ShownThread, callId: string, text: string): Notice[] {
  const call = shown.calls.get(callId);
  const ready = call?.item ? call.output.add(text) : "";
  return call && ready !== "" ? [outputDelta(shown, call, ready)] : [];
}

/** Output so far, for clients that join while commands run. */
export const runningItems = ({ calls }: ShownThread): ThreadItem[] =>
  [...calls.values()].flatMap(({ item, output }) =>
    item?.type === "commandExecution" && item.status === "inProgress"
      ? [{ ...item, aggregatedOutput: output.shown() }]
      : [],
  );

const outputDelta = (shown: ShownThread, { callId }: CallInView, delta: string): Notice => ({
  method: "item/commandExecution/outputDelta",
  params: { ...turnIds(shown), itemId: itemIdOf(callId), delta },
});

export function settled(shown: ShownThread, { callId, outcome }: RecordOf<"tool.settled">, atMs: number): Notice[] {
  const call = shown.calls.get(callId);
  if (!call) return [];
  shown.open.delete(callId);
  const unblocked = shown.waiting.delete(callId) ? [statusNotice(shown)] : [];
  const notices = outcomeNotices(shown, call, outcome, atMs);
  return [...unblocked, ...notices, ...(shown.open.size === 0 ? releaseUsage(shown) : [])];
}

function outcomeNotices(shown: ShownThread, call: CallInView, outcome: Outcome, atMs: number): Notice[] {
  const { detail } = outcome;
  if (detail.kind === "plan") return [planNotice(shown, detail.steps, call)];
  if (detail.kind === "input") return continued(shown, detail, atMs);
  if (detail.kind === "command" && detail.sessionId !== undefined) return outlived(shown, call, detail.sessionId);
  // Interrupted while an approval was pending: it was not approved.
  const unanswered = call.item && !call.hasBegun && outcome.status === "interrupted";
  const late = begin(shown, unbegunCall(call.callId, call.block, outcome), atMs);
  shown.calls.delete(call.callId);
  if (!call.item) return misunderstood(shown, call, outcome);
  const item = endItem(call.item, unanswered ? { ...outcome, status: "declined" } : outcome);
  if (item.type === "commandExecution" && detail.kind !== "command")
    return [...late, completeItem(shown, withoutResult(item, call, outcome), atMs)];
  return [...late, ...ended(shown, call, item, atMs), ...diffNotice(shown, call, outcome)];
}

/** A command that never ran has the reason; one whose end is unknown has what it printed until then. */
function withoutResult(item: ThreadItemOf<"commandExecution">, call: CallInView, { reason }: Outcome): ThreadItem {
  return { ...item, aggregatedOutput: call.hasBegun ? call.output.everything() : (reason ?? null) };
}

function ended(shown: ShownThread, call: CallInView, item: ThreadItem, atMs: number): Notice[] {
  const rest = item.type === "commandExecution" ? call.output.rest(item.aggregatedOutput ?? "") : "";
  return [...(rest === "" ? [] : [outputDelta(shown, call, rest)]), completeItem(shown, item, atMs)];
}

/** The command keeps running under a session id; its item ends with it. */
function outlived(shown: ShownThread, call: CallInView, sessionId: number): Notice[] {
  if (call.item?.type === "commandExecution") call.item = { ...call.item, processId: String(sessionId) };
  shown.sessions.set(sessionId, call);
  return [];
}

function continued(shown: ShownThread, detail: Extract<Outcome["detail"], { kind: "input" }>, atMs: number): Notice[] {
  const call = shown.sessions.get(detail.sessionId);
  if (!call || detail.running) return [];
  return commandOver(shown, detail.sessionId, call, { exitCode: detail.exitCode, atMs });
}

/** Commands that are still running end with the turn. */
export const endSessions = (shown: ShownThread, atMs: number): Notice[] =>
  [...shown.sessions].flatMap(([id, call]) => commandOver(shown, id, call, { exitCode: null, atMs }));

function commandOver(
  shown: ShownThread,
  sessionId: number,
  call: CallInView,
  { exitCode, atMs }: { exitCode: number | null; atMs: number },
): Notice[] {
  shown.sessions.delete(sessionId);
  shown.calls.delete(call.callId);
  if (call.item?.type !== "commandExecution") return [];
  const status = exitCode === 0 ? "completed" : "failed";
  return [completeItem(shown, { ...call.item, status, exitCode, aggregatedOutput: call.output.everything() }, atMs)];
}

/** Calls that only read are not shown, unless they were refused or invalid. */
function misunderstood({ threadId }: ShownThread, { block }: CallInView, { status, reason = "" }: Outcome): Notice[] {
  const isUnclear = reason.startsWith("unsupported call") || reason.startsWith(`${block.name}: `);
  const message = status === "declined" ? `${block.name}: ${reason}` : reason;
  if (status !== "declined" && !(status === "failed" && isUnclear)) return [];
  return [{ method: "warning", params: { threadId, message } }];
}

const planStatus = { pending: "pending", in_progress: "inProgress", completed: "completed" } as const;

function planNotice(shown: ShownThread, steps: PlanStep[], { args }: CallInView): Notice {
  const { explanation } = (args ?? {}) as { explanation?: string };
  const plan = steps.map(({ step, status }) => ({ step, status: planStatus[status] }));
  return { method: "turn/plan/updated", params: { ...turnIds(shown), explanation: explanation ?? null, plan } };
}

function diffNotice(shown: ShownThread, { args, block }: CallInView, { status, detail }: Outcome): Notice[] {
  if (status !== "completed" || detail.kind !== "patch") return [];
  // A command that is only a patch was run as one.
  shown.edits.push(...proposedEdits(isEditTool(block.name) ? block.name : "apply_patch", args));
  return [{ method: "turn/diff/updated", params: { ...turnIds(shown), diff: turnDiff(shown.edits) } }];
}
