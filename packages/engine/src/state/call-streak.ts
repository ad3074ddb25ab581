// Counts calls in a row that lead nowhere: rejected ones, and ones that repeat the call before.
import type { CallBlock, Outcome } from "@agentcli/protocol";
import type { CallStreak, OpenCall } from "./state.ts";

/** The turn ends after this many. */
export const maxCallsWithoutProgress = 20;

export const newStreak = (): CallStreak => ({ newest: null, length: 0, firstReply: "", lastReply: "" });

/** Calls of one reply never end a turn: the model has not seen yet what came of them. */
export const makesNoProgress = ({ length, firstReply, lastReply }: CallStreak): boolean =>
  length >= maxCallsWithoutProgress && firstReply !== lastReply;

export function countCall(streak: CallStreak, call: OpenCall, outcome: Outcome): CallStreak {
  const newest = call.block;
  const lastReply = replyOf(call);
  const isRepeated = isSame(newest, streak.newest) && !isWaiting(call, outcome);
  if (!isRepeated && !isRejected(call, outcome)) return { newest, length: 0, firstReply: lastReply, lastReply };
  // The first of several identical calls becomes part of the streak with the second.
  const before = isRepeated ? Math.max(1, streak.length) : streak.length;
  return { newest, length: before + 1, firstReply: before === 0 ? lastReply : streak.firstReply, lastReply };
}

const isSame = ({ name, input }: CallBlock, newest: CallBlock | null): boolean =>
  name === newest?.name && input === newest.input;

/** Ids of calls are the reply's number, a dot and the call's. */
const replyOf = ({ callId }: OpenCall): string => callId.slice(0, callId.indexOf("."));

const isRejected = ({ begun }: OpenCall, { status }: Outcome): boolean =>
  status === "declined" || (begun === null && status === "failed");

/** Waiting for a process or a sub-agent that still runs: their own limits end that. */
function isWaiting({ begun }: OpenCall, { detail }: Outcome): boolean {
  if (detail.kind === "input") return detail.running;
  if (detail.kind !== "agents" || begun?.name !== "wait_agent") return false;
  return Object.values(detail.agents).some(({ status }) => status === "running");
}
