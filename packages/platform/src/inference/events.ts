// A reply on its way as events of the Responses wire, in the order and with the numbers its clients expect.
import type { ModelProgress, ModelReply } from "@agentcli/engine";
import type { Block, Usage } from "@agentcli/protocol";
import type { InferenceResponse } from "@agentcli/protocol/api";
import { emptied, givenId, type Item, itemOf, summaryPart, textPart, usageOf } from "./items.ts";

export interface ResponseEvent {
  type: string;
  sequence_number: number;
  [member: string]: unknown;
}

export interface ResponseEvents {
  /** Says that an answer is on its way, the first time by what a stream begins with. */
  stillWorking(): void;
  take(progress: ModelProgress): void;
  hasBegun(): boolean;
  /** Each of these is the last event, and gives what it says of the whole response. */
  complete(reply: Extract<ModelReply, { kind: "replied" }>): InferenceResponse;
  breakOff(reason: string, usage: Usage): InferenceResponse;
  fail(error: { code: string; message: string }): InferenceResponse;
}

export interface ResponseHead {
  id: string;
  model: string;
  /** Seconds since 1970. */
  createdAt: number;
  maxOutputTokens: number | null;
}

/** An item that grows: its deltas were sent, the end of it not yet. */
interface Growing {
  id: string;
  index: number;
  text: string;
}

export function openResponseEvents(head: ResponseHead, emit: (event: ResponseEvent) => void): ResponseEvents {
  const output: Item[] = [];
  const growing = new Map<"message" | "reasoning", Growing>();
  let events = 0;
  let items = 0;
  let settled = 0;

  const send = (type: string, members: object): void => emit({ type, ...members, sequence_number: events++ });

  function begin(): void {
    if (events > 0) return;
    send("response.created", { response: responseOf(head, { status: "in_progress" }) });
    send("response.in_progress", { response: responseOf(head, { status: "in_progress" }) });
  }

  function add(block: Block): Growing {
    const index = items++;
    const item = { id: givenId(block) ?? `${prefixes[block.type]}_${head.id.slice(-16)}${index}`, index, text: "" };
    send("response.output_item.added", {
      output_index: index,
      item: itemOf(emptied(block), item.id, "in_progress"),
    });
    if (block.type === "message") send("response.content_part.added", { ...partAt(item), part: textPart("") });
    return item;
  }

  function grow(type: "message" | "reasoning", delta: string): void {
    const item = growing.get(type) ?? add(emptyBlocks[type]);
    growing.set(type, item);
    if (type === "message") send("response.output_text.delta", { ...partAt(item), delta, logprobs: [] });
    else {
      if (item.text === "")
        send("response.reasoning_summary_part.added", { ...summaryAt(item, 0), part: summaryPart("") });
      send("response.reasoning_summary_text.delta", { ...summaryAt(item, 0), delta });
    }
    item.text += delta;
  }

  function settle(block: Block, status: "completed" | "incomplete" = "completed"): void {
    const known = block.type === "call" ? undefined : growing.get(block.type);
    const item = known ?? add(block);
    if (block.type !== "call") growing.delete(block.type);
    for (const [type, members] of endOf(block, item)) send(type, members);
    // Sealed thoughts are good only under the name that their provider gave them, which may come with the end of them.
    const whole = itemOf(block, (block.type === "reasoning" && givenId(block)) || item.id, status);
    send("response.output_item.done", { output_index: item.index, item: whole });
    output.push(whole);
  }

  function end(type: string, ending: Partial<InferenceResponse>): InferenceResponse {
    const response = responseOf(head, { output, ...ending });
    send(type, { response });
    return response;
  }

  return {
    stillWorking() {
      if (events === 0) begin();
      else send("response.in_progress", { response: responseOf(head, { status: "in_progress" }) });
    },
    take(progress) {
      begin();
      if (progress.type === "text") grow("message", progress.delta);
      if (progress.type === "reasoning") grow("reasoning", progress.delta);
      if (progress.type !== "settled") return;
      settled += 1;
      settle(progress.block);
    },
    hasBegun: () => events > 0,
    complete({ blocks, usage, model }) {
      begin();
      for (const block of blocks.slice(settled)) settle(block);
      return end("response.completed", { status: "completed", model, usage: usageOf(usage) });
    },
    breakOff(reason, usage) {
      begin();
      for (const [type, { text }] of [...growing])
        settle(type === "message" ? { type, text } : { type, summary: [text] }, "incomplete");
      return end("response.incomplete", {
        status: "incomplete",
        incomplete_details: { reason },
        usage: usageOf(usage),
      });
    },
    fail(error) {
      begin();
      return end("response.failed", { status: "failed", error });
    },
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

function responseOf(
  { id, model, createdAt, maxOutputTokens }: ResponseHead,
  state: Partial<InferenceResponse>,
): InferenceResponse {
  return {
    id,
    object: "response",
    created_at: createdAt,
    status: "in_progress",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: maxOutputTokens,
    metadata: {},
    model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    temperature: null,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_p: null,
    truncation: "disabled",
    usage: null,
    ...state,
  };
}
