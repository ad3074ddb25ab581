// The blocks of one response that have begun: their deltas are linked, and read once when the block stops.
import type { ModelProgress } from "@agentcli/engine";
import type { Block, WebSearchAction } from "@agentcli/protocol";
import { freeformInput } from "../freeform.ts";
import { type Fields, fields, parseJson, text } from "../untrusted.ts";

type OpenBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | { type: "tool_use"; id: string; name: string; input: string; whole: unknown }
  /** What the provider does itself. */
  | { type: "server"; block: Fields; input: string };

type Show = (progress: ModelProgress) => void;

export function openBlocks(freeform: Set<string>) {
  const blocks = new Map<unknown, OpenBlock>();
  const stopped: OpenBlock[] = [];
  const isRepeated = openRepeats();

  function begin(event: Fields, onProgress: Show): void {
    if (blocks.has(event.index)) return;
    const block = openBlock(fields(event.content_block));
    if (isRepeated(event.index, block)) return;
    blocks.set(event.index, block);
    if (block.type === "tool_use") onProgress({ type: "calling", name: block.name });
  }

  function grow(event: Fields, onProgress: Show): void {
    const block = blocks.get(event.index);
    const delta = fields(event.delta);
    if (block?.type === "text" && typeof delta.text === "string") growText(event, delta.text, onProgress);
    else if (block?.type === "thinking" && typeof delta.thinking === "string") {
      block.text += delta.thinking;
      if (delta.thinking !== "") onProgress({ type: "reasoning", delta: delta.thinking });
    } else if (block?.type === "thinking") block.signature += text(delta.signature) ?? "";
    else if (block && "input" in block) block.input += text(delta.partial_json) ?? "";
  }

  function growText(event: Fields, delta: string, onProgress: Show): void {
    const block = blocks.get(event.index);
    if (block?.type !== "text") return;
    block.text += delta;
    if (delta !== "") onProgress({ type: "text", delta });
  }

  function stop(event: Fields): Block | undefined {
    const block = blocks.get(event.index);
    if (!block) return undefined;
    blocks.delete(event.index);
    stopped.push(block);
    return blockOf(block, freeform);
  }

  return { begin, grow, growText, stop, count: () => blocks.size, content: () => stopped.flatMap(wireBlock) };
}

/** Whether a block began before. Some servers send no indexes, or no ids: then two blocks are two. */
function openRepeats(): (index: unknown, block: OpenBlock) => boolean {
  const seen = new Set<string | number>();
  return (index, block) => {
    const keys = [
      ...(typeof index === "number" ? [index] : []),
      ...(block.type === "tool_use" && block.id !== "" ? [block.id] : []),
    ];
    const isRepeated = keys.some((key) => seen.has(key));
    for (const key of keys) seen.add(key);
    return isRepeated;
  };
}

function openBlock(block: Fields): OpenBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: text(block.text) ?? "" };
    case "thinking":
      return { type: "thinking", text: text(block.thinking) ?? "", signature: text(block.signature) ?? "" };
    case "redacted_thinking":
      return { type: "redacted_thinking", data: text(block.data) ?? "" };
    case "tool_use":
      return {
        type: "tool_use",
        id: text(block.id) ?? "",
        name: text(block.name) ?? "",
        input: "",
        whole: block.input,
      };
    default:
      return { type: "server", block, input: "" };
  }
}

function blockOf(block: OpenBlock, freeform: Set<string>): Block | undefined {
  switch (block.type) {
    case "text":
      return { type: "message", text: block.text };
    case "thinking": {
      const { text: thought, signature } = block;
      return { type: "reasoning", summary: thought ? [thought] : [], ...(signature && { signature }) };
    }
    case "redacted_thinking":
      return { type: "reasoning", summary: [], redacted: block.data };
    case "tool_use": {
      const { id: wireId, name } = block;
      const args = argumentsOf(block);
      if (freeform.has(name)) return { type: "call", wireId, name, form: "freeform", input: freeformInput(args) };
      return { type: "call", wireId, name, form: "function", input: args };
    }
    case "server":
      return block.block.name === "web_search" ? { type: "web_search", action: searchOf(block.input) } : undefined;
  }
}

/** Servers that do not stream arguments put them into the beginning of the block. */
function argumentsOf({ input, whole }: Extract<OpenBlock, { type: "tool_use" }>): string {
  return input === "" ? JSON.stringify(fields(whole)) : input;
}

function searchOf(input: string): WebSearchAction {
  const query = text(fields(parseJson(input)).query);
  return { type: "search", ...(query !== undefined && { query }) };
}

/** As the provider sent it, to continue a response that it paused. */
function wireBlock(block: OpenBlock): object[] {
  switch (block.type) {
    case "text":
      return block.text.trim() === "" ? [] : [{ type: "text", text: block.text }];
    case "thinking":
      return [{ type: "thinking", thinking: block.text, signature: block.signature }];
    case "redacted_thinking":
      return [block];
    case "tool_use":
      return [{ type: "tool_use", id: block.id, name: block.name, input: fields(parseJson(argumentsOf(block))) }];
    case "server":
      return [block.input === "" ? block.block : { ...block.block, input: parseJson(block.input) }];
  }
}
