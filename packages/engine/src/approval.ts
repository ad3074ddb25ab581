// A person's consent to one call: asked once, with question and answer in the log before anything takes effect.
import type { McpOrigin, ThreadRecord, TurnSettings } from "@agentcli/protocol";
import { asksEscalation, type Verdict } from "./guard.ts";
import type { Admission, PlannedCall } from "./hooks/gate.ts";
import type { Json } from "./json.ts";
import type { Drive } from "./running.ts";
import { findOpenCall } from "./state.ts";

export interface ApprovalQuestion {
  threadId: string;
  turnId: string;
  callId: string;
  name: string;
  /** As they will run. */
  args: unknown;
  mcp: McpOrigin | undefined;
  settings: TurnSettings;
  /** Why somebody has to be asked. */
  reason: string;
}

export type Decision = "accept" | "acceptForSession" | "decline" | "cancel";

export interface UserQuestion {
  id: string;
  header: string;
  question: string;
  options: { label: string; description: string }[];
}

/** The answers to each question, by its id. */
export type UserAnswers = Record<string, string[]>;

/** Somebody who can be asked while a turn goes on. */
export interface Approver {
  /** Whether this was accepted for the whole session; nothing is asked then. */
  remembers(question: ApprovalQuestion): boolean;
  /** Settles in every case, at once on abort: a person who goes away has declined. `cancel` also stops the turn. */
  approve(question: ApprovalQuestion, signal: AbortSignal): Promise<Decision>;
  /** Null where nobody answers. */
  answer(
    call: { threadId: string; turnId: string; callId: string },
    questions: UserQuestion[],
    signal: AbortSignal,
  ): Promise<UserAnswers | null>;
}

/** A call that only an approval lets through: what the log knows, then hooks, then a person. */
export async function seekApproval(
  planned: PlannedCall,
  { reason }: Extract<Verdict, { kind: "unapproved" }>,
  run: Drive,
): Promise<Admission> {
  const question = questionOf(planned, reason, run);
  const known = knownAnswer(question, run);
  if (known) return admissionOf(known, planned);
  const hooked = await run.hooks?.approve(planned, run);
  if (hooked?.kind === "declined") return hooked;
  if (hooked) return admit(planned, question, "hook", run);
  if (!run.approver) return { kind: "declined", reason };
  if (run.approver.remembers(question)) return admit(planned, question, "session", run);
  await run.log.write(askedNote(question));
  const decision = await run.approver.approve(question, run.signal);
  // Stopped while it was asked: nobody has answered, and the turn is about to end.
  if (run.signal.aborted && decision !== "cancel") return { kind: "declined", reason: stoppedReason };
  await run.log.write(answeredNote(question, decision, "user"));
  return admissionOf(decision, planned);
}

async function admit(planned: PlannedCall, question: ApprovalQuestion, by: string, run: Drive): Promise<Admission> {
  await run.log.write(answeredNote(question, "accept", by));
  return { kind: "admitted", args: planned.args };
}

const isAccepted = (decision: Decision): boolean => decision === "accept" || decision === "acceptForSession";

const admissionOf = (decision: Decision, { args }: PlannedCall): Admission =>
  isAccepted(decision) ? { kind: "admitted", args } : { kind: "declined", reason: "rejected by user" };

const stoppedReason = "the run was stopped before this call was approved";

/** A call taken up again is not asked about twice, as long as it is the same call. */
function knownAnswer({ callId, args }: ApprovalQuestion, { log }: Drive): Decision | null {
  const approval = findOpenCall(log.state, callId)?.approval;
  return approval && approval.args === JSON.stringify(args) ? approval.decision : null;
}

function questionOf({ callId, tool, args }: PlannedCall, reason: string, { log }: Drive): ApprovalQuestion {
  const { threadId, turn } = log.state;
  if (!turn) throw new Error(`${tool.name} was called outside a turn`);
  const { turnId, settings } = turn;
  return { threadId, turnId, callId, name: tool.name, args, mcp: tool.mcp, settings, reason };
}

const askedNote = ({ callId, name, args, mcp, reason }: ApprovalQuestion): ThreadRecord => ({
  type: "noted",
  kind: "approval",
  data: { asked: true, callId, name, args: args as Json, ...(mcp && { mcp }), reason },
});

const answeredNote = (question: ApprovalQuestion, decision: Decision, by: string): ThreadRecord => ({
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

/** Commands that ask for it, and patches that the sandbox would refuse. A command that a rule is about stays inside. */
const leavesSandbox = ({ name, args, settings }: ApprovalQuestion): boolean =>
  settings.sandbox !== "danger-full-access" &&
  (name === "apply_patch" || (name === "exec_command" && asksEscalation(args)));
