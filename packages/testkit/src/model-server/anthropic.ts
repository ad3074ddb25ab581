// The Anthropic Messages wire: a reply as server-sent events, or as one JSON object.
import { createHash } from "node:crypto";
import { type Content, type Ending, type Piece, split } from "./content.ts";

export function* anthropicFrames(content: Content): Generator<string> {
  const frame = (type: string, fields: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const usage = usageOf(content);
  const message = { ...headOf(content), content: [], stop_reason: null, stop_sequence: null };
  yield frame("message_start", { message: { ...message, ...(usage && { usage: { ...usage, output_tokens: 1 } }) } });
  for (const [index, piece] of content.pieces.entries()) {
    yield frame("content_block_start", { index, content_block: begunBlock(piece) });
    for (const delta of deltasOf(piece)) yield frame("content_block_delta", { index, delta });
    yield frame("content_block_stop", { index });
  }
  const { ending } = content;
  if (ending.kind === "failed") {
    yield frame("error", { error: errorOf(ending) });
    return;
  }
  const delta = { stop_reason: stopReason(content), stop_sequence: null, stop_details: stopDetails(ending) };
  yield frame("message_delta", { delta, ...(usage && { usage }) });
  yield frame("message_stop", {});
}

export function anthropicObject(content: Content): object {
  if (content.ending.kind === "failed") return { type: "error", error: errorOf(content.ending) };
  const stop = { stop_reason: stopReason(content), stop_sequence: null, stop_details: stopDetails(content.ending) };
  return { ...headOf(content), content: content.pieces.map(wholeBlock), ...stop, usage: usageOf(content) };
}

/** Belongs to exactly this text: the wire refuses thinking that was changed. */
export const signatureOf = (thinking: string): string => createHash("sha256").update(thinking).digest("base64");

const headOf = (content: Content) => ({ id: content.id, type: "message", role: "assistant", model: content.model });

function begunBlock(piece: Piece): object {
  switch (piece.type) {
    case "message":
      return { type: "text", text: "" };
    case "reasoning":
      return piece.summary.length === 0 ? wholeBlock(piece) : { type: "thinking", thinking: "", signature: "" };
    case "search":
      return { type: "server_tool_use", id: `srvtoolu_${piece.id}`, name: "web_search", input: {} };
    case "call":
      return { type: "tool_use", id: piece.callId, name: piece.name, input: {} };
  }
}

function wholeBlock(piece: Piece): object {
  switch (piece.type) {
    case "message":
      return { type: "text", text: piece.text };
    case "reasoning": {
      const thinking = piece.summary.join("");
      if (thinking === "") return { type: "redacted_thinking", data: piece.encrypted ?? "redacted" };
      return { type: "thinking", thinking, signature: signatureOf(thinking) };
    }
    case "search":
      return { ...begunBlock(piece), input: piece.action };
    case "call":
      return { ...begunBlock(piece), input: JSON.parse(argumentsOf(piece)) };
  }
}

function* deltasOf(piece: Piece): Generator<object> {
  switch (piece.type) {
    case "message":
      for (const text of split(piece.text, piece.deltas)) yield { type: "text_delta", text };
      return;
    case "reasoning":
      if (piece.summary.length === 0) return;
      for (const thinking of piece.summary) yield { type: "thinking_delta", thinking };
      yield { type: "signature_delta", signature: signatureOf(piece.summary.join("")) };
      return;
    case "search":
      yield { type: "input_json_delta", partial_json: JSON.stringify(piece.action) };
      return;
    case "call":
      for (const text of split(argumentsOf(piece), piece.deltas))
        yield { type: "input_json_delta", partial_json: text };
  }
}

// This wire has no custom tools: a freeform input travels as the one argument of a function.
const argumentsOf = ({ freeform, input }: Extract<Piece, { type: "call" }>): string =>
  freeform ? JSON.stringify({ input }) : input;

function stopReason({ ending, pieces }: Content): string {
  if (ending.kind === "paused") return "pause_turn";
  if (ending.kind === "incomplete") return stopReasons[ending.reason] ?? ending.reason;
  return pieces.some((piece) => piece.type === "call") ? "tool_use" : "end_turn";
}

const stopReasons: Record<string, string> = { max_output_tokens: "max_tokens", content_filter: "refusal" };

const stopDetails = (ending: Ending): object | null =>
  ending.kind === "incomplete" && ending.reason === "content_filter"
    ? { type: "refusal", category: "cyber", explanation: "This request is not one that the model answers." }
    : null;

/** Scripts name failures as the Responses wire does. */
function errorOf({ code, message }: Extract<Ending, { kind: "failed" }>): { type: string; message: string } {
  if (code === "context_length_exceeded")
    return { type: "invalid_request_error", message: `prompt is too long: ${message}` };
  return { type: errorTypes[code] ?? "api_error", message };
}

const errorTypes: Record<string, string> = {
  server_is_overloaded: "overloaded_error",
  rate_limit_exceeded: "rate_limit_error",
  insufficient_quota: "billing_error",
  invalid_prompt: "invalid_request_error",
};

function usageOf({ usage }: Content): object | null {
  if (!usage) return null;
  const { inputTokens, cachedInputTokens, cacheWriteInputTokens } = usage;
  return {
    input_tokens: inputTokens - cachedInputTokens - cacheWriteInputTokens,
    cache_read_input_tokens: cachedInputTokens,
    cache_creation_input_tokens: cacheWriteInputTokens,
    output_tokens: usage.outputTokens,
    output_tokens_details: { thinking_tokens: usage.reasoningOutputTokens },
  };
}
