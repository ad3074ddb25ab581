// Keeps a long thread within the model's context window: a summary replaces the earlier messages.
import { truncateForModel } from "../output.ts";
import type { Message, ModelRequest } from "../ports.ts";
import { estimateMessage, estimateText } from "./tokens.ts";

const maxUserTokens = 20_000;
const summaryPrefix =
  "The earlier part of this conversation was summarised to save room. You have all your tools and the files as they are now. Build on this summary, do not redo finished work:";

export const compactionPrompt = `Write a hand-over summary of this conversation so that work can go on from it alone. Cover, in this order:
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

export const estimateRequest = ({ instructions, tools, messages }: ModelRequest): number =>
  messages.reduce(addSize, estimateText(instructions) + estimateText(JSON.stringify(tools)));

/** The same with the oldest messages dropped, so that it fits the window. */
export function shortCompactionRequest(
  request: ModelRequest,
  { context, room, prompt }: { context: Message[]; room: number; prompt?: string | undefined },
): ModelRequest {
  const spent = estimateRequest(wholeCompactionRequest({ ...request, messages: context }, prompt));
  const recent = newestWithin(request.messages.slice(context.length), room - spent);
  return wholeCompactionRequest({ ...request, messages: [...context, ...recent] }, prompt);
}

/** User messages that are kept verbatim: the newest, up to their budget. */
export function retainedMessages(messages: Message[], compactAt: number | undefined): Message[] {
  const budget = Math.min(maxUserTokens, Math.floor((compactAt ?? maxUserTokens * 4) / 4));
  const prompts = messages.filter((message) => message.role === "user" && !isSummary(message));
  const kept = newestWithin(prompts, budget);
  const newest = prompts.at(-1);
  return kept.length > 0 || !newest ? kept : [shortened(newest, budget)];
}

/** The current prompt is always kept, if only its beginning fits. */
function shortened(message: Message, budget: number): Message {
  if (message.role === "assistant") return message;
  const text = message.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  return { role: "user", parts: [{ type: "text", text: truncateForModel(text, budget) }] };
}

export const summaryMessage = ({ summary, restated }: { summary: string; restated?: string | undefined }): Message => ({
  role: "user",
  parts: [{ type: "text", text: [summaryPrefix, summary, ...(restated ? [stateHeading, restated] : [])].join("\n") }],
});

const stateHeading = "\nState of the work when it was summarised:";

/** A summary that is too long would soon be compacted again. */
export function boundedSummary(summary: string, compactAt: number | undefined): string {
  const characters = compactAt ?? 40_000;
  return summary.length <= characters ? summary : `${summary.slice(0, characters)}\n[summary cut here]`;
}

function isSummary(message: Message): boolean {
  if (message.role === "assistant") return false;
  const first = message.parts[0];
  return first?.type === "text" && first.text.startsWith(summaryPrefix);
}

/** The newest messages that fit; a tool output is never kept without the reply that requested it. */
export function newestWithin(messages: Message[], room: number): Message[] {
  let used = 0;
  let start = messages.length;
  while (start > 0) {
    const message = messages[start - 1];
    if (!message) break;
    used += estimateMessage(message);
    if (used > room) break;
    start -= 1;
  }
  while (messages[start]?.role === "tool") start += 1;
  return messages.slice(start);
}

const addSize = (total: number, message: Message): number => total + estimateMessage(message);
