// Reads and creates the parts of messages.
import type { Block, Part } from "@agentcli/protocol";
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
