// The items of a response while they come: what is sent when one begins, grows and is whole.
import type { ModelProgress } from "@agentcli/engine";
import type { Block } from "@agentcli/protocol";
import { emptied, givenId, type Item, itemOf, summaryPart, textPart } from "./items.ts";

export type Send = (type: string, members: object) => void;

export interface Output {
  take(progress: ModelProgress): void;
  /** All blocks of the reply, of which some may have been taken as settled. */
  complete(blocks: Block[]): void;
  /** What has come is all there will be. */
  breakOff(): void;
  /** Those that are whole. */
  items(): Item[];
}

/** An item of which deltas were sent, and the end not yet. */
interface Growing {
  id: string;
  index: number;
  text: string;
}

export function openOutput(responseId: string, send: Send): Output {
  const output: Item[] = [];
  // One of each: a wire that does not tell where a block ends has no more of them.
  const growing = new Map<"message" | "reasoning", Growing>();
  let begun = 0;
  let settled = 0;

  function add(block: Block): Growing {
    const index = begun++;
    const item = { id: givenId(block) ?? `${prefixes[block.type]}_${responseId.slice(-16)}${index}`, index, text: "" };
    const empty = itemOf(emptied(block), item.id, "in_progress");
    send("response.output_item.added", { output_index: index, item: empty });
    if (block.type === "message") send("response.content_part.added", { ...partAt(item), part: textPart("") });
    return item;
  }

  function grow(type: "message" | "reasoning", delta: string): void {
    const item = growing.get(type) ?? add(emptyBlocks[type]);
    growing.set(type, item);
    for (const [name, members] of deltaOf(type, delta, item)) send(name, members);
    item.text += delta;
  }

  function settle(block: Block, status: "completed" | "incomplete"): void {
    const item = (block.type === "call" ? undefined : growing.get(block.type)) ?? add(block);
    if (block.type !== "call") growing.delete(block.type);
    for (const [type, members] of endOf(block, item)) send(type, members);
    // Sealed thoughts are good only under the name that their provider gave them, which may come with the end of them.
    const whole = itemOf(block, (block.type === "reasoning" && givenId(block)) || item.id, status);
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
      for (const [type, { text }] of [...growing])
        settle(type === "message" ? { type, text } : { type, summary: [text] }, "incomplete");
    },
    items: () => output,
  };
}

const prefixes = { message: "msg", reasoning: "rs", call: "fc" } as const;

const emptyBlocks: Record<"message" | "reasoning", Block> = {
  message: { type: "message", text: "" },
  reasoning: { type: "reasoning", summary: [] },
};

const partAt = ({ id, index }: Growing) => ({ item_id: id, output_index: index, content_index: 0 });

const summaryAt = ({ id, index }: Growing, part: number) => ({
  item_id: id,
  output_index: index,
  summary_index: part,
});

function* deltaOf(
  type: "message" | "reasoning",
  delta: string,
  item: Growing,
): Generator<[type: string, members: object]> {
  if (type === "message") return yield ["response.output_text.delta", { ...partAt(item), delta, logprobs: [] }];
  const at = summaryAt(item, 0);
  if (item.text === "") yield ["response.reasoning_summary_part.added", { ...at, part: summaryPart("") }];
  yield ["response.reasoning_summary_text.delta", { ...at, delta }];
}

/** What is sent of a block before its item is done: the rest of it, and that each part of it is whole. */
function* endOf(block: Block, item: Growing): Generator<[type: string, members: object]> {
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
