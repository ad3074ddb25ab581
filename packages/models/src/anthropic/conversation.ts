// Messages as turns of user and assistant: results of calls open the turn of the user that follows the calls.
import type { Message } from "@agentcli/engine";
import type { Block, CallBlock, Part } from "@agentcli/protocol";
import { fields, parseJson } from "../untrusted.ts";
import type { WireBlock, WireMessage } from "./breakpoints.ts";

export function conversationOf(messages: Message[]): WireMessage[] {
  const turns: WireMessage[] = [];
  const ids = openIds();
  for (const message of messages) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = blocksOf(message, ids);
    const last = turns.at(-1);
    if (content.length === 0) continue;
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content });
  }
  return turns;
}

function blocksOf(message: Message, ids: CallIds): WireBlock[] {
  switch (message.role) {
    case "assistant":
      return message.blocks.flatMap((block) => assistantBlock(block, ids));
    case "tool":
      return [resultOf(message, ids.current(message.wireId))];
    case "user":
    case "developer":
      return contentOf(message.parts);
  }
}

/** The wire refuses texts without a letter. */
export const textsOf = (parts: Part[]): WireBlock[] =>
  parts.flatMap((part) => (part.type === "text" && part.text.trim() !== "" ? [{ type: "text", text: part.text }] : []));

function assistantBlock(block: Block, ids: CallIds): WireBlock[] {
  switch (block.type) {
    case "message":
      return textsOf([{ type: "text", text: block.text }]);
    case "reasoning":
      if (block.redacted !== undefined) return [{ type: "redacted_thinking", data: block.redacted }];
      // Reasoning of another wire has no signature, and is refused without one.
      return block.signature === undefined
        ? []
        : [{ type: "thinking", thinking: block.summary.join(""), signature: block.signature }];
    case "call":
      return [{ type: "tool_use", id: ids.begin(block.wireId), name: block.name, input: inputOf(block) }];
    case "web_search":
      return [];
  }
}

interface CallIds {
  begin(wireId: string): string;
  current(wireId: string): string;
}

/** Ids of other wires repeat within a conversation, and may have characters that this one refuses. */
function openIds(): CallIds {
  const used = new Set<string>();
  const latest = new Map<string, string>();
  return {
    begin(wireId) {
      const base = wireId.replace(/[^a-zA-Z0-9_-]/g, "_") || "_";
      let id = base;
      for (let number = 2; used.has(id); number += 1) id = `${base}_${number}`;
      used.add(id);
      latest.set(wireId, id);
      return id;
    },
    current: (wireId) => latest.get(wireId) ?? wireId,
  };
}

/** Always an object: the wire has no other form of arguments, even where the model wrote none. */
function inputOf({ form, input }: CallBlock): object {
  if (form === "freeform") return { input };
  if (input.trim() === "") return {};
  const parsed = parseJson(input);
  return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)
    ? fields(parsed)
    : { INVALID_JSON: input };
}

function resultOf({ parts, failed }: Extract<Message, { role: "tool" }>, id: string): WireBlock {
  const content = contentOf(parts);
  return {
    type: "tool_result",
    tool_use_id: id,
    ...(content.length > 0 && { content }),
    ...(failed && { is_error: true }),
  };
}

function contentOf(parts: Part[]): WireBlock[] {
  return parts.flatMap((part) => {
    if (part.type === "text") return textsOf([part]);
    const image = imageOf(part.url);
    return part.name === undefined ? [image] : [{ type: "text", text: `Image ${part.name}:` }, image];
  });
}

function imageOf(url: string): WireBlock {
  const [, type = "", data = ""] = /^data:(image\/(?:jpeg|png|gif|webp));base64,(.*)$/s.exec(url) ?? [];
  if (data !== "") return { type: "image", source: { type: "base64", media_type: type, data } };
  if (/^https?:/i.test(url)) return { type: "image", source: { type: "url", url } };
  return { type: "text", text: "[an image in a format that this model cannot see]" };
}
