// Approval of one call by the user: requested once, with request and decision in the log before the call takes effect.
import type { ThreadRecord } from "@agentcli/protocol";
import type { ApprovalQuestion, Decision, Judgement } from "../approver.ts";
import type { Json } from "../json.ts";
import { isEditTool } from "../patch/proposed.ts";
import { withoutHunks } from "../patch/refused-hunks.ts";
import type { ThreadRun } from "../running.ts";
import { findOpenCall } from "../state/state.ts";
import type { Admission, PlannedCall } from "../thread-hooks.ts";
import { asksEscalation, type Verdict } from "./guard.ts";

/** Decided by the log, then by hooks, then by the user. */
export async function requestApproval(
  planned: PlannedCall,
  { reason }: Extract<Verdict, { kind: "unapproved" }>,
  run: ThreadRun,
): Promise<Admission> {
  const question = questionOf(planned, reason, run);
  const earlier = earlierJudgement(question, run);
  if (earlier) return admissionOf(earlier, planned);
  const verdict = await run.hooks?.approve(planned, run);
  if (verdict?.kind === "declined") return verdict;
  if (verdict) return admit(planned, question, "hook", run);
  if (!run.approver) return { kind: "declined", reason };
  if (run.approver.remembers(question)) return admit(planned, question, "session", run);
  await run.log.write(requestNote(question));
  const judgement = await run.approver.approve(question, run.signal);
  // Aborted while waiting: there is no decision, and the turn is about to end.
  if (run.signal.aborted && judgement.decision !== "cancel") return { kind: "declined", reason: stoppedReason };
  await run.log.write(decisionNote(question, judgement, "user"));
  return admissionOf(judgement, planned);
}

async function admit(planned: PlannedCall, question: ApprovalQuestion, by: string, run: ThreadRun): Promise<Admission> {
  await run.log.write(decisionNote(question, { decision: "accept" }, by));
  return { kind: "admitted", args: planned.args };
}

const isAccepted = (decision: Decision): boolean => decision === "accept" || decision === "acceptForSession";

function admissionOf({ decision, reason, refusedHunks }: Judgement, { tool, args }: PlannedCall): Admission {
  if (!isAccepted(decision))
    return { kind: "declined", reason: reason ? `rejected by user: ${reason}` : "rejected by user" };
  if (!refusedHunks || refusedHunks.length === 0) return { kind: "admitted", args };
  return withoutHunks({ name: tool.name, args }, refusedHunks, reason);
}

const stoppedReason = "the run was stopped before this call was approved";

/** No second request for the same call when its turn is resumed. */
function earlierJudgement({ callId, args }: ApprovalQuestion, { log }: ThreadRun): Judgement | null {
  const approval = findOpenCall(log.state, callId)?.approval;
  return approval && approval.args === JSON.stringify(args) ? approval : null;
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

const decisionNote = (
  question: ApprovalQuestion,
  { decision, reason, refusedHunks }: Judgement,
  by: string,
): ThreadRecord => ({
  type: "noted",
  kind: "approval",
  data: {
    callId: question.callId,
    decision,
    by,
    args: question.args as Json,
    ...(reason && { reason }),
    ...(refusedHunks && refusedHunks.length > 0 && { refusedHunks }),
    ...(isAccepted(decision) && leavesSandbox(question) && { outside: true }),
  },
});

/** Commands that request it, and patches that the sandbox would refuse. A command that needs approval by a rule stays inside. */
const leavesSandbox = ({ name, args, settings }: ApprovalQuestion): boolean =>
  settings.sandbox !== "danger-full-access" && (isEditTool(name) || (name === "exec_command" && asksEscalation(args)));
