// The request for a summary that keeps a long thread within the model's context window.
import type { Message, ModelRequest } from "../ports.ts";
import { newestWithin } from "../state/compaction.ts";
import { estimateRequest } from "../state/tokens.ts";

const compactionPrompt = `Write a hand-over summary of this conversation so that work can go on from it alone. Cover, in this order:
- what was asked for, in the user's own words where they matter, and every constraint given
- what has been done: files changed (with paths), commands run and what they showed
- what is known now: findings, decisions and why, things tried that failed
- what is left, as concrete next steps
- open questions: what is undecided, or waits for an answer
Be complete about facts and short about everything else. Answer with the summary only.`;

/** The request for the summary, after everything that a prompt cache already has: the tools stay, but must not be called. */
export const wholeCompactionRequest = (request: ModelRequest, prompt = compactionPrompt): ModelRequest => ({
  ...request,
  messages: [...request.messages, { role: "user", parts: [{ type: "text", text: prompt }] }],
  toolChoice: "none",
  outputSchema: undefined,
});

/** The same with the oldest messages dropped, so that it fits the window. */
export function shortCompactionRequest(
  request: ModelRequest,
  { context, room, prompt }: { context: Message[]; room: number; prompt?: string | undefined },
): ModelRequest {
  const spent = estimateRequest(wholeCompactionRequest({ ...request, messages: context }, prompt));
  const recent = newestWithin(request.messages.slice(context.length), room - spent);
  return wholeCompactionRequest({ ...request, messages: [...context, ...recent] }, prompt);
}

/** A summary that is too long would soon be compacted again. */
export function boundedSummary(summary: string, compactAt: number | undefined): string {
  const characters = compactAt ?? 40_000;
  return summary.length <= characters ? summary : `${summary.slice(0, characters)}\n[summary cut here]`;
}
