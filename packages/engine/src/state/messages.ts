// Reads and creates the parts of messages.
import type { Block, MessageBlock, Part } from "@agentcli/protocol";
import type { OpenCall } from "./state.ts";

export const textPart = (text: string): Part => ({ type: "text", text });

export const textOf = (parts: Part[]): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

/** Generated, because providers repeat their call ids within a thread. */
export const callsOf = (seq: number, blocks: Block[]): OpenCall[] =>
  blocks
    .filter((block) => block.type === "call")
    .map((block, index) => ({ callId: `${seq}.${index}`, block, begun: null, approval: null }));

export function lastMessage(blocks: Block[]): string | null {
  const text = blocks.findLast((block) => block.type === "message" && block.text.trim() !== "");
  return text?.type === "message" ? text.text : null;
}

export const messagesOf = (blocks: Block[]): MessageBlock[] => blocks.filter((block) => block.type === "message");

/** The message that is the answer: what the model marked as such, else its last message. Commentary never is. */
export function answerOf<Message extends Pick<MessageBlock, "phase">>(messages: Message[]): Message | undefined {
  return (
    messages.findLast(({ phase }) => phase === "final_answer") ?? messages.findLast(({ phase }) => phase === undefined)
  );
}

/** The answer of a reply without calls, which may be empty; null if there is none. */
export const finalMessage = (blocks: Block[]): string | null => answerOf(messagesOf(blocks))?.text ?? null;

/** Messages to show: empty ones only where they are the last word of a reply. */
export function isShown(message: Block, blocks: Block[]): boolean {
  if (message.type !== "message" || message.text.trim() !== "") return true;
  return blocks.every(({ type }) => type !== "call") && message === messagesOf(blocks).at(-1);
}
