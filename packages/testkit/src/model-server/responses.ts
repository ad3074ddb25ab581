// The Responses wire: a reply as server-sent events, or as one JSON object.
import { type Content, type Piece, split } from "./content.ts";

export function* responsesFrames(content: Content): Generator<string> {
  let sequence = 0;
  const frame = (type: string, fields: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields, sequence_number: sequence++ })}\n\n`;
  yield frame("response.created", { response: { ...responseHead(content), status: "in_progress", output: [] } });
  for (const [index, piece] of content.pieces.entries()) {
    yield frame("response.output_item.added", { output_index: index, item: startedItem(piece) });
    for (const [type, fields] of deltasOf(piece))
      yield frame(type, { item_id: piece.id, output_index: index, ...fields });
    yield frame("response.output_item.done", { output_index: index, item: doneItem(piece) });
  }
  yield frame(`response.${statusOf(content)}`, { response: responsesObject(content) });
}

export function responsesObject(content: Content): object {
  const { ending } = content;
  return {
    ...responseHead(content),
    status: statusOf(content),
    error: ending.kind === "failed" ? { code: ending.code, message: ending.message } : null,
    incomplete_details: ending.kind === "incomplete" ? { reason: ending.reason } : null,
    output: content.pieces.map(doneItem),
    usage: usageOf(content),
  };
}

const statusOf = ({ ending }: Content): string => (ending.kind === "paused" ? "completed" : ending.kind);

const responseHead = (content: Content) => ({
  id: content.id,
  object: "response",
  created_at: 0,
  model: content.model,
});

function* deltasOf(piece: Piece): Generator<[type: string, fields: object]> {
  if (piece.type === "reasoning") {
    for (const [index, delta] of piece.summary.entries())
      yield ["response.reasoning_summary_text.delta", { summary_index: index, delta }];
  } else if (piece.type === "search") {
    for (const step of ["in_progress", "searching", "completed"]) yield [`response.web_search_call.${step}`, {}];
  } else if (piece.type === "message") {
    for (const delta of split(piece.text, piece.deltas))
      yield ["response.output_text.delta", { content_index: 0, delta }];
  } else {
    const type = piece.freeform ? "response.custom_tool_call_input.delta" : "response.function_call_arguments.delta";
    for (const delta of split(piece.input, piece.deltas)) yield [type, { delta }];
  }
}

const startedItem = (piece: Piece): object => ({ ...itemOf(emptied(piece)), status: "in_progress" });
const doneItem = (piece: Piece): object => ({ ...itemOf(piece), status: "completed" });

function emptied(piece: Piece): Piece {
  if (piece.type === "reasoning") return { ...piece, summary: [], encrypted: undefined };
  if (piece.type === "search") return { ...piece, action: {} };
  return piece.type === "message" ? { ...piece, text: "" } : { ...piece, input: "" };
}

function itemOf(piece: Piece): object {
  if (piece.type === "reasoning") {
    const summary = piece.summary.map((text) => ({ type: "summary_text", text }));
    return { type: "reasoning", id: piece.id, summary, encrypted_content: piece.encrypted ?? null };
  }
  if (piece.type === "search") return { type: "web_search_call", id: piece.id, action: piece.action };
  if (piece.type === "message") {
    const content = [{ type: "output_text", text: piece.text, annotations: [] }];
    return { type: "message", id: piece.id, role: "assistant", content, ...(piece.phase && { phase: piece.phase }) };
  }
  const named = { id: piece.id, call_id: piece.callId, name: piece.name };
  if (piece.freeform) return { type: "custom_tool_call", ...named, input: piece.input };
  return { type: "function_call", ...named, arguments: piece.input };
}

function usageOf({ usage }: Content): object | null {
  if (!usage) return null;
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cachedInputTokens, cache_write_tokens: usage.cacheWriteInputTokens },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningOutputTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}
