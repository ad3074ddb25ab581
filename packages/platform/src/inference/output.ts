// The output items of a streamed response: events for the start, deltas and end of each.
import type { ModelProgress } from "@agentcli/engine";
import type { Block } from "@agentcli/protocol";
import { emptied, type Item, itemOf, type OutputBlock, providerId, summaryPart, textPart } from "./items.ts";

export type Send = (type: string, members: object) => void;

export interface Output {
  take(progress: ModelProgress): void;
  /** All blocks of the reply; some may have been sent as settled already. */
  complete(blocks: Block[]): void;
  /** Ends the stream with what has arrived. */
  breakOff(): void;
  /** Completed items. */
  items(): Item[];
}

/** An item with deltas sent and no end yet. */
interface OpenItem {
  id: string;
  index: number;
  text: string;
}

export function openOutput(responseId: string, send: Send): Output {
  const output: Item[] = [];
  // At most one of each kind: wires without block ends have no more.
  const openItems = new Map<"message" | "reasoning", OpenItem>();
  let begun = 0;
  let settled = 0;

  function add(block: OutputBlock): OpenItem {
    const index = begun++;
    const item = {
      id: providerId(block) ?? `${prefixes[block.type]}_${responseId.slice(-16)}${index}`,
      index,
      text: "",
    };
    const empty = itemOf(emptied(block), item.id, "in_progress");
    send("response.output_item.added", { output_index: index, item: empty });
    if (block.type === "message") send("response.content_part.added", { ...partAt(item), part: textPart("") });
    return item;
  }

  function grow(type: "message" | "reasoning", delta: string): void {
    const item = openItems.get(type) ?? add(emptyBlocks[type]);
    openItems.set(type, item);
    for (const [name, members] of deltaOf(type, delta, item)) send(name, members);
    item.text += delta;
  }

  function settle(block: Block, status: "completed" | "incomplete"): void {
    if (block.type === "web_search") return;
    const item = (block.type === "call" ? undefined : openItems.get(block.type)) ?? add(block);
    if (block.type !== "call") openItems.delete(block.type);
    for (const [type, members] of endOf(block, item)) send(type, members);
    // Encrypted reasoning is only valid under the provider's own id, which may arrive with its end.
    const whole = itemOf(block, (block.type === "reasoning" && providerId(block)) || item.id, status);
    send("response.output_item.done", { output_index: item.index, item: whole });
    output.push(whole);
  }

  return {
    take(progress) {
      if (progress.type === "text") grow("message", progress.delta);
      if (progress.type === "reasoning") grow("reasoning", progress.delta);
      if (progress.type !== "settled") return;
      settled += 1;
      settle(progress.block, "completed");
    },
    complete(blocks) {
      for (const block of blocks.slice(settled)) settle(block, "completed");
    },
    breakOff() {
      for (const [type, { text }] of [...openItems])
        settle(type === "message" ? { type, text } : { type, summary: [text] }, "incomplete");
    },
    items: () => output,
  };
}

const prefixes = { message: "msg", reasoning: "rs", call: "fc" } as const;

const emptyBlocks: Record<"message" | "reasoning", OutputBlock> = {
  message: { type: "message", text: "" },
  reasoning: { type: "reasoning", summary: [] },
};

const partAt = ({ id, index }: OpenItem) => ({ item_id: id, output_index: index, content_index: 0 });

const summaryAt = ({ id, index }: OpenItem, part: number) => ({
  item_id: id,
  output_index: index,
  summary_index: part,
});

function* deltaOf(
  type: "message" | "reasoning",
  delta: string,
  item: OpenItem,
): Generator<[type: string, members: object]> {
  if (type === "message") return yield ["response.output_text.delta", { ...partAt(item), delta, logprobs: [] }];
  const at = summaryAt(item, 0);
  if (item.text === "") yield ["response.reasoning_summary_part.added", { ...at, part: summaryPart("") }];
  yield ["response.reasoning_summary_text.delta", { ...at, delta }];
}

/** Events before an item is done: the remaining deltas, and the end of each part. */
function* endOf(block: OutputBlock, item: OpenItem): Generator<[type: string, members: object]> {
  switch (block.type) {
    case "message":
      if (item.text === "" && block.text !== "")
        yield ["response.output_text.delta", { ...partAt(item), delta: block.text, logprobs: [] }];
      yield ["response.output_text.done", { ...partAt(item), text: block.text, logprobs: [] }];
      yield ["response.content_part.done", { ...partAt(item), part: textPart(block.text) }];
      return;
    case "reasoning":
      for (const [part, text] of (block.summary.length === 0 && item.text ? [item.text] : block.summary).entries()) {
        const at = summaryAt(item, part);
        if (part > 0 || item.text === "") {
          yield ["response.reasoning_summary_part.added", { ...at, part: summaryPart("") }];
          yield ["response.reasoning_summary_text.delta", { ...at, delta: text }];
        }
        yield ["response.reasoning_summary_text.done", { ...at, text }];
        yield ["response.reasoning_summary_part.done", { ...at, part: summaryPart(text) }];
      }
      return;
    case "call": {
      const isFunction = block.form === "function";
      const type = isFunction ? "response.function_call_arguments" : "response.custom_tool_call_input";
      const at = { item_id: item.id, output_index: item.index };
      if (block.input !== "") yield [`${type}.delta`, { ...at, delta: block.input }];
      yield [`${type}.done`, { ...at, ...(isFunction ? { arguments: block.input } : { input: block.input }) }];
    }
  }
}
