// When the budget is spent: one last request without tools, so that the work done is explained, then the end.
import type { Budget } from "@agentcli/protocol";
import { addLedgers, mayAskOnce, wrapUpRoom } from "./budget.ts";
import { newestWithin } from "./compaction.ts";
import type { Message, ModelRequest } from "./ports.ts";
import { charged, request, requestFor } from "./request.ts";
import { type Drive, elsewhere } from "./running.ts";
import type { ThreadState } from "./state.ts";
import { estimateMessage, estimateText } from "./tokens.ts";

const mostOutputTokens = 1_000;
const leastOutputTokens = 64;

export async function wrapUp(spent: keyof Budget, run: Drive): Promise<void> {
  const { log, signal } = run;
  if (!log.state.turn?.wrappingUp) await log.write({ type: "noted", kind: "budget", data: { spent } });
  // A sub-agent's parent explains for both; what is held back is for that.
  const last = run.family?.isMain === false ? null : lastRequest(log.state, run);
  const reply = last && (await request(last, run));
  if (signal.aborted) return;
  if (reply?.kind === "replied") {
    const blocks = reply.blocks.filter((block) => block.type !== "call");
    await log.write({ type: "model.replied", blocks, ...charged(reply, run) });
  }
  return endBudget(spent, run);
}

/** Ends the turn for want of budget; what was done stays done. */
export function endBudget(spent: keyof Budget, { log }: Drive): Promise<void> {
  const turnId = log.state.turn?.turnId ?? "";
  const limit = log.state.turn?.settings.budget?.[spent];
  const message = `The budget is spent: ${spent} ${limit}. The work so far is kept; resume with a larger --budget to go on.`;
  return log.write({ type: "turn.ended", turnId, end: { status: "failed", code: "budget", message, limit: spent } });
}

/** The conversation as far as what is left pays for it; null where it does not pay for any. */
function lastRequest(state: ThreadState, run: Drive): ModelRequest | null {
  const { budget } = state.turn?.settings ?? {};
  const ledger = state.turn && addLedgers(state.turn.ledger, elsewhere(run));
  if (!ledger || !mayAskOnce(budget, ledger)) return null;
  // It explains in words where the work stands; an answer in the wanted shape would claim to be one.
  const full = { ...requestFor(state, run), outputSchema: undefined };
  const ask: Message = { role: "user", parts: [{ type: "text", text: prompt }] };
  const room = wrapUpRoom(budget, ledger);
  if (room === null)
    return { ...full, messages: [...full.messages, ask], tools: [], maxOutputTokens: mostOutputTokens };
  const fixed = estimateText(full.instructions) + estimateMessage(ask);
  const left = room - fixed - leastOutputTokens;
  if (left <= 0) return null;
  const messages = newestWithin(full.messages, Math.floor(left * 0.8));
  const used = messages.reduce((total, message) => total + estimateMessage(message), fixed);
  const maxOutputTokens = Math.min(mostOutputTokens, room - used);
  return { ...full, messages: [...messages, ask], tools: [], maxOutputTokens };
}

const prompt =
  "The budget of this run is spent, so this is your last message and you have no tools. Say what was done, what state the files are in, what was verified, and what is left to do.";
