// Calls of the model: asked about, begun, on their way, settled.
import type { Outcome, PlanStep, RecordOf } from "@agentcli/protocol";
import type { ThreadItem } from "@agentcli/protocol/app-server";
import { parsePatch } from "../../patch/parse.ts";
import { turnDiff } from "./diff.ts";
import { beginItem, endItem, itemIdOf, type ShownCall, unbegunCall } from "./items.ts";
import type { Notice } from "./notice.ts";
import { releaseUsage } from "./replies.ts";
import { type CallInView, completeItem, place, type Shown, startItem, statusNotice } from "./thread.ts";

/** The item is there before the question, so that a client can show what it is asked about. */
export function approval(shown: Shown, { data }: RecordOf<"noted">, atMs: number): Notice[] {
  const callId = String(data.callId);
  if (data.asked !== true) {
    return shown.waiting.delete(callId) ? [statusNotice(shown)] : [];
  }
  const { name, args, mcp } = data as unknown as ShownCall;
  shown.waiting.set(callId, "waitingOnApproval");
  return [...begin(shown, { callId, name, args, mcp }, atMs), statusNotice(shown)];
}

export function begun(shown: Shown, record: ShownCall, atMs: number): Notice[] {
  const { callId, name, args } = record;
  const call = shown.calls.get(callId);
  if (call) Object.assign(call, { hasBegun: true, args });
  if (name === "write_stdin") return typed(shown, args);
  if (name !== "request_user_input") return begin(shown, record, atMs);
  shown.waiting.set(callId, "waitingOnUserInput");
  return [statusNotice(shown)];
}

/** Once for each call: what was asked about is not begun again. */
function begin(shown: Shown, record: ShownCall, atMs: number): Notice[] {
  const call = shown.calls.get(record.callId);
  const item = call && !call.item ? beginItem(record, shown) : null;
  if (!call || !item) return [];
  Object.assign(call, { item, args: record.args });
  return [startItem(shown, item, atMs)];
}

function typed(shown: Shown, args: unknown): Notice[] {
  const { session_id: id = -1, chars = "" } = args as { session_id?: number; chars?: string };
  const call = shown.sessions.get(id);
  if (!call || chars === "") return [];
  const params = { ...place(shown), itemId: itemIdOf(call.callId), processId: String(id), stdin: chars };
  return [{ method: "item/commandExecution/terminalInteraction", params }];
}

/** What a command prints. */
export function printed(shown: Shown, callId: string, text: string): Notice[] {
  const call = shown.calls.get(callId);
  const ready = call?.item ? call.output.add(text) : "";
  return call && ready !== "" ? [outputDelta(shown, call, ready)] : [];
}

/** What commands have printed so far, for whoever joins in the middle. */
export const runningItems = ({ calls }: Shown): ThreadItem[] =>
  [...calls.values()].flatMap(({ item, output }) =>
    item?.type === "commandExecution" && item.status === "inProgress"
      ? [{ ...item, aggregatedOutput: output.shown() }]
      : [],
  );

const outputDelta = (shown: Shown, { callId }: CallInView, delta: string): Notice => ({
  method: "item/commandExecution/outputDelta",
  params: { ...place(shown), itemId: itemIdOf(callId), delta },
});

export function settled(shown: Shown, { callId, outcome }: RecordOf<"tool.settled">, atMs: number): Notice[] {
  const call = shown.calls.get(callId);
  if (!call) return [];
  shown.open.delete(callId);
  const unblocked = shown.waiting.delete(callId) ? [statusNotice(shown)] : [];
  const told = tellOutcome(shown, call, outcome, atMs);
  return [...unblocked, ...told, ...(shown.open.size === 0 ? releaseUsage(shown) : [])];
}

function tellOutcome(shown: Shown, call: CallInView, outcome: Outcome, atMs: number): Notice[] {
  const { detail } = outcome;
  if (detail.kind === "plan") return [planNotice(shown, detail.steps, call)];
  if (detail.kind === "input") return continued(shown, detail, atMs);
  if (detail.kind === "command" && detail.sessionId !== undefined) return outlived(shown, call, detail.sessionId);
  // Interrupted while a person was asked: that person has not said yes.
  const unanswered = call.item && !call.hasBegun && outcome.status === "interrupted";
  const late = begin(shown, unbegunCall(call.callId, call.block, outcome), atMs);
  shown.calls.delete(call.callId);
  if (!call.item) return misunderstood(shown, call, outcome);
  const item = endItem(call.item, unanswered ? { ...outcome, status: "declined" } : outcome);
  return [...late, ...ended(shown, call, item, atMs), ...diffNotice(shown, call, outcome)];
}

function ended(shown: Shown, call: CallInView, item: ThreadItem, atMs: number): Notice[] {
  const rest = item.type === "commandExecution" && call.hasBegun ? call.output.rest(item.aggregatedOutput ?? "") : "";
  return [...(rest === "" ? [] : [outputDelta(shown, call, rest)]), completeItem(shown, item, atMs)];
}

/** The command goes on under a session id; its item ends with it. */
function outlived(shown: Shown, call: CallInView, sessionId: number): Notice[] {
  if (call.item?.type === "commandExecution") call.item = { ...call.item, processId: String(sessionId) };
  shown.sessions.set(sessionId, call);
  return [];
}

function continued(shown: Shown, detail: Extract<Outcome["detail"], { kind: "input" }>, atMs: number): Notice[] {
  const call = shown.sessions.get(detail.sessionId);
  if (!call || detail.running) return [];
  return commandOver(shown, detail.sessionId, call, { exitCode: detail.exitCode, atMs });
}

/** Commands that are still running end with the turn. */
export const endSessions = (shown: Shown, atMs: number): Notice[] =>
  [...shown.sessions].flatMap(([id, call]) => commandOver(shown, id, call, { exitCode: null, atMs }));

function commandOver(
  shown: Shown,
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

/** Looking around is not shown; a call that was refused or that nobody understood is. */
function misunderstood({ threadId }: Shown, { block }: CallInView, { status, reason = "" }: Outcome): Notice[] {
  const isUnclear = reason.startsWith("unsupported call") || reason.startsWith(`${block.name}: `);
  const message = status === "declined" ? `${block.name}: ${reason}` : reason;
  if (status !== "declined" && !(status === "failed" && isUnclear)) return [];
  return [{ method: "warning", params: { threadId, message } }];
}

const planStatus = { pending: "pending", in_progress: "inProgress", completed: "completed" } as const;

function planNotice(shown: Shown, steps: PlanStep[], { args }: CallInView): Notice {
  const { explanation } = (args ?? {}) as { explanation?: string };
  const plan = steps.map(({ step, status }) => ({ step, status: planStatus[status] }));
  return { method: "turn/plan/updated", params: { ...place(shown), explanation: explanation ?? null, plan } };
}

function diffNotice(shown: Shown, { args }: CallInView, { status, detail }: Outcome): Notice[] {
  if (status !== "completed" || detail.kind !== "patch") return [];
  const patch = parsePatch(String((args as { input?: string } | null)?.input ?? ""));
  if (patch.kind === "patch") shown.edits.push(...patch.edits);
  return [{ method: "turn/diff/updated", params: { ...place(shown), diff: turnDiff(shown.edits) } }];
}
