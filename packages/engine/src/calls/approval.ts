// Approval of one call by the user: requested once, with request and decision in the log before the call takes effect.
import type { ThreadRecord } from "@agentcli/protocol";
import type { ApprovalQuestion, Decision } from "../approver.ts";
import type { Admission, PlannedCall } from "../hook-gate.ts";
import type { Json } from "../json.ts";
import { isEditTool } from "../patch/proposed.ts";
import type { ThreadRun } from "../running.ts";
import { findOpenCall } from "../state/state.ts";
import { asksEscalation, type Verdict } from "./guard.ts";

/** Decided by the log, then by hooks, then by the user. */
export async function requestApproval(
  planned: PlannedCall,
  { reason }: Extract<Verdict, { kind: "unapproved" }>,
  run: ThreadRun,
): Promise<Admission> {
  const question = questionOf(planned, reason, run);
  const earlier = earlierDecision(question, run);
  if (earlier) return admissionOf(earlier, planned);
  const verdict = await run.hooks?.approve(planned, run);
  if (verdict?.kind === "declined") return verdict;
  if (verdict) return admit(planned, question, "hook", run);
  if (!run.approver) return { kind: "declined", reason };
  if (run.approver.remembers(question)) return admit(planned, question, "session", run);
  await run.log.write(requestNote(question));
  const decision = await run.approver.approve(question, run.signal);
  // Aborted while waiting: there is no decision, and the turn is about to end.
  if (run.signal.aborted && decision !== "cancel") return { kind: "declined", reason: stoppedReason };
  await run.log.write(decisionNote(question, decision, "user"));
  return admissionOf(decision, planned);
}

async function admit(planned: PlannedCall, question: ApprovalQuestion, by: string, run: ThreadRun): Promise<Admission> {
  await run.log.write(decisionNote(question, "accept", by));
  return { kind: "admitted", args: planned.args };
}

const isAccepted = (decision: Decision): boolean => decision === "accept" || decision === "acceptForSession";

const admissionOf = (decision: Decision, { args }: PlannedCall): Admission =>
  isAccepted(decision) ? { kind: "admitted", args } : { kind: "declined", reason: "rejected by user" };

const stoppedReason = "the run was stopped before this call was approved";

/** No second request for the same call when its turn is resumed. */
function earlierDecision({ callId, args }: ApprovalQuestion, { log }: ThreadRun): Decision | null {
  const approval = findOpenCall(log.state, callId)?.approval;
  return approval && approval.args === JSON.stringify(args) ? approval.decision : null;
}

function questionOf({ callId, tool, args }: PlannedCall, reason: string, { log }: ThreadRun): ApprovalQuestion {
  const { threadId, turn } = log.state;
  if (!turn) throw new Error(`${tool.name} was called outside a turn`);
  const { turnId, settings } = turn;
  return { threadId, turnId, callId, name: tool.name, args, mcp: tool.mcp, settings, reason };
}

const requestNote = ({ callId, name, args, mcp, reason }: ApprovalQuestion): ThreadRecord => ({
  type: "noted",
  kind: "approval",
  data: { asked: true, callId, name, args: args as Json, ...(mcp && { mcp }), reason },
});

const decisionNote = (question: ApprovalQuestion, decision: Decision, by: string): ThreadRecord => ({
  type: "noted",
  kind: "approval",
  data: {
    callId: question.callId,
    decision,
    by,
    args: question.args as Json,
    ...(isAccepted(decision) && leavesSandbox(question) && { outside: true }),
  },
});

/** Commands that request it, and patches that the sandbox would refuse. A command that needs approval by a rule stays inside. */
const leavesSandbox = ({ name, args, settings }: ApprovalQuestion): boolean =>
  settings.sandbox !== "danger-full-access" && (isEditTool(name) || (name === "exec_command" && asksEscalation(args)));
