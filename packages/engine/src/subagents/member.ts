// One sub-agent of a tree: its thread and its state.
import type { AgentState } from "@agentcli/protocol";
import type { Log } from "../log/log.ts";
import type { SubagentRecord } from "../state/known-agents.ts";

/** `closed` is set by its parent; descendants of a closed member are closed with it. */
export interface Member extends SubagentRecord {
  id: string;
  role: string;
  nickname: string;
  /** Null for a child of the main thread. */
  parent: Member | null;
  log: Log;
  /** Ids of its turns: a call that is repeated after a crash finds the turn it began. */
  turnIds: Set<string>;
  stop: AbortController;
  /** Settles, never rejects, when the member and its descendants have stopped running. */
  resting: Promise<void>;
  /** The error that ended its loop. */
  defect: string | null;
}

export const restingMember = (fields: Omit<Member, "stop" | "resting" | "defect">): Member => ({
  ...fields,
  stop: new AbortController(),
  resting: Promise.resolve(),
  defect: null,
});

/** The main thread has depth 0. */
export const depthOf = (member: Member | null): number => (member ? 1 + depthOf(member.parent) : 0);

export const isClosed = (member: Member): boolean =>
  member.closed || (member.parent !== null && isClosed(member.parent));

export const isBelow = (member: Member, above: Member | null): boolean =>
  member.parent === above || (member.parent !== null && isBelow(member.parent, above));

export function stateOf(member: Member): AgentState {
  const { turn, end } = member.log.state;
  if (isClosed(member)) return { status: "shutdown", message: end?.status === "completed" ? end.message : null };
  if (member.defect !== null) return { status: "errored", message: member.defect };
  if (turn) return { status: "running", message: null };
  if (!end) return { status: "pending_init", message: null };
  if (end.status === "completed") return { status: "completed", message: end.message };
  if (end.status === "cancelled") return { status: "interrupted", message: end.reason };
  return { status: "errored", message: end.message };
}

export const isAtRest = ({ defect, log }: Member): boolean => defect !== null || log.state.turn === null;
