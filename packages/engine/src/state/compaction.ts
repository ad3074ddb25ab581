// What a long thread keeps when a summary replaces its earlier messages.
import { truncateForModel } from "../output.ts";
import type { Message } from "../ports.ts";
import { estimateMessage } from "./tokens.ts";

const maxUserTokens = 20_000;
const summaryPrefix =
  "The earlier part of this conversation was summarised to save room. You have all your tools and the files as they are now. Build on this summary, do not redo finished work:";

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
