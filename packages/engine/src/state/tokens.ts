// Estimated sizes: a token is about four bytes. Loading a real tokenizer costs more than a whole hello run.
import type { Part } from "@agentcli/protocol";
import type { Message, ModelRequest } from "../ports.ts";

const bytesPerToken = 4;
const tokensPerImage = 1_000;

export const estimateText = (text: string): number => estimateBytes(byteLength(text));

export const estimateBytes = (bytes: number): number => Math.ceil(bytes / bytesPerToken);

/** The longest output that fits. */
export const bytesOf = (tokens: number): number => tokens * bytesPerToken;

export function estimateMessage(message: Message): number {
  if (message.role !== "assistant") return estimateParts(message.parts);
  return message.blocks.reduce((total, block) => {
    if (block.type === "message") return total + estimateText(block.text);
    if (block.type === "call") return total + estimateText(block.name) + estimateText(block.input);
    if (block.type === "web_search") return total + estimateText(JSON.stringify(block.action));
    return total + estimateText(block.encrypted ?? "") + estimateText(block.text ?? block.summary.join("\n"));
  }, 0);
}

export const estimateRequest = ({ instructions, tools, messages }: ModelRequest): number =>
  messages.reduce(addSize, estimateText(instructions) + estimateText(JSON.stringify(tools)));

const addSize = (total: number, message: Message): number => total + estimateMessage(message);

const estimateParts = (parts: Part[]): number =>
  parts.reduce((total, part) => total + (part.type === "text" ? estimateText(part.text) : tokensPerImage), 0);

/** UTF-8 length, without encoding. Long ASCII text is the common case: a search is ten times faster than a loop. */
export function byteLength(text: string): number {
  let bytes = text.length;
  const firstOther = text.search(/[^\0-\x7f]/);
  if (firstOther === -1) return bytes;
  for (let index = firstOther; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    // A surrogate pair is two units and four bytes: two more for the pair in all.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}
