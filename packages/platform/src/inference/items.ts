// Blocks of a reply as items of the Responses wire.
import type { Block, Usage } from "@agentcli/protocol";
import type { InferenceResponse } from "@agentcli/protocol/api";

export type Item = InferenceResponse["output"][number];

export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** Searches that a provider makes itself are not requested here. */
export type OutputBlock = Exclude<Block, { type: "web_search" }>;

/** `id` is used if the provider sent none. */
export function itemOf(block: OutputBlock, id: string, status: ItemStatus): Item {
  switch (block.type) {
    case "message":
      return {
        id,
        type: "message",
        status,
        role: "assistant",
        content: block.text === "" ? [] : [textPart(block.text)],
      };
    case "reasoning":
      return {
        id,
        type: "reasoning",
        summary: block.summary.map(summaryPart),
        ...(block.text && { content: [{ type: "reasoning_text", text: block.text }] }),
        encrypted_content: block.encrypted ?? null,
        status,
      };
    case "call": {
      const called = { id, status, call_id: block.wireId || id, name: block.name };
      if (block.form === "freeform") return { ...called, type: "custom_tool_call", input: block.input };
      return { ...called, type: "function_call", arguments: block.input };
    }
  }
}

/** The block before any content has arrived. */
export function emptied(block: OutputBlock): OutputBlock {
  switch (block.type) {
    case "message":
      return { ...block, text: "" };
    case "reasoning":
      return { type: "reasoning", summary: [] };
    case "call":
      return { ...block, input: "" };
  }
}

export const textPart = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });

export const summaryPart = (text: string) => ({ type: "summary_text", text });

export const providerId = (block: Block): string | undefined =>
  (block.type === "call" ? block.itemId : block.wireId) || undefined;

export const usageOf = (usage: Usage): NonNullable<InferenceResponse["usage"]> => ({
  input_tokens: usage.inputTokens,
  input_tokens_details: { cached_tokens: usage.cachedInputTokens, cache_write_tokens: usage.cacheWriteInputTokens },
  output_tokens: usage.outputTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningOutputTokens },
  total_tokens: usage.inputTokens + usage.outputTokens,
});
