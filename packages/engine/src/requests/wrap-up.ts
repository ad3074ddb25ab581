// The wrap-up of a turn whose budget is used up: one last request without tools, in which the model reports, then the end.
import type { Budget } from "@agentcli/protocol";
import { addLedgers, mayAskOnce, wrapUpRoom } from "../budget/ledger.ts";
import type { Message, ModelRequest } from "../ports.ts";
import { spentByOtherAgents, type ThreadRun } from "../running.ts";
import { newestWithin } from "../state/compaction.ts";
import type { ThreadState } from "../state/state.ts";
import { estimateMessage, estimateText } from "../state/tokens.ts";
import { charged, request, requestFor } from "./request.ts";

const maxReportTokens = 1_000;
const minOutputTokens = 64;

export async function wrapUp(spent: keyof Budget, run: ThreadRun): Promise<void> {
  const { log, signal } = run;
  if (!log.state.turn?.wrappingUp) await log.write({ type: "noted", kind: "budget", data: { spent } });
  // The reserve is for the main thread, which reports for its sub-agents too.
  const last = run.subagents?.isMain === false ? null : lastRequest(log.state, run);
  const reply = last && (await request(last, run));
  if (signal.aborted) return;
  if (reply?.kind === "replied") {
    const blocks = reply.blocks.filter((block) => block.type !== "call");
    await log.write({ type: "model.replied", blocks, ...charged(reply, run) });
  }
  return endOverBudget(spent, run);
}

/** Ends the turn as failed because its budget is used up. Changes made so far are not undone. */
export function endOverBudget(spent: keyof Budget, { log }: ThreadRun): Promise<void> {
  const turnId = log.state.turn?.turnId ?? "";
  const limit = log.state.turn?.settings.budget?.[spent];
  const message = `The budget is spent: ${spent} ${limit}. The work so far is kept; resume with a larger --budget to go on.`;
  return log.write({ type: "turn.ended", turnId, end: { status: "failed", code: "budget", message, limit: spent } });
}

/** The newest messages that fit in the remaining budget; null if none fit. */
function lastRequest(state: ThreadState, run: ThreadRun): ModelRequest | null {
  const { budget } = state.turn?.settings ?? {};
  const ledger = state.turn && addLedgers(state.turn.ledger, spentByOtherAgents(run));
  if (!ledger || !mayAskOnce(budget, ledger)) return null;
  // A report in plain text: output of the required schema would look like an answer.
  const full = { ...requestFor(state, run.requestOptions), outputSchema: undefined };
  const ask: Message = { role: "user", parts: [{ type: "text", text: prompt }] };
  const room = wrapUpRoom(budget, ledger);
  if (room === null) return { ...full, messages: [...full.messages, ask], tools: [], maxOutputTokens: maxReportTokens };
  const fixed = estimateText(full.instructions) + estimateMessage(ask);
  const left = room - fixed - minOutputTokens;
  if (left <= 0) return null;
  const messages = newestWithin(full.messages, Math.floor(left * 0.8));
  const used = messages.reduce((total, message) => total + estimateMessage(message), fixed);
  const maxOutputTokens = Math.min(maxReportTokens, room - used);
  return { ...full, messages: [...messages, ask], tools: [], maxOutputTokens };
}

const prompt =
  "The budget of this run is spent, so this is your last message and you have no tools. Say what was done, what state the files are in, what was verified, and what is left to do.";
