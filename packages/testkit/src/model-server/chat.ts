// The chat completions wire: a reply as chunks, or as one JSON object.
import { type Content, type Ending, type Piece, split } from "./content.ts";

export function* chatFrames(content: Content, withUsage: "with-usage" | "without-usage"): Generator<string> {
  const head = { id: content.id, object: "chat.completion.chunk", created: 0, model: content.model };
  const frame = (fields: object): string => `data: ${JSON.stringify({ ...head, ...fields })}\n\n`;
  const chunk = (delta: object, finish: string | null = null): string =>
    frame({ choices: [{ index: 0, delta, finish_reason: finish }] });
  yield chunk({ role: "assistant", content: "" });
  for (const delta of deltasOf(content.pieces)) yield chunk(delta);
  if (content.ending.kind === "failed") {
    yield `data: ${JSON.stringify({ error: errorOf(content.ending) })}\n\n`;
    return;
  }
  yield chunk({}, finishReason(content));
  if (withUsage === "with-usage" && content.usage) yield frame({ choices: [], usage: usageOf(content) });
  yield "data: [DONE]\n\n";
}

export function chatObject(content: Content): object {
  if (content.ending.kind === "failed") return { error: errorOf(content.ending) };
  const calls = content.pieces.flatMap((piece) => (piece.type === "call" ? [callOf(piece)] : []));
  const message = {
    role: "assistant",
    content: textOf(content.pieces) || null,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return {
    id: content.id,
    object: "chat.completion",
    created: 0,
    model: content.model,
    choices: [{ index: 0, message, finish_reason: finishReason(content) }],
    usage: usageOf(content),
  };
}

function* deltasOf(pieces: Piece[]): Generator<object> {
  let index = 0;
  for (const piece of pieces) {
    if (piece.type === "reasoning") {
      for (const text of piece.summary) yield { reasoning_content: text };
    } else if (piece.type === "message") {
      for (const text of split(piece.text, piece.deltas)) yield { content: text };
    } else if (piece.type === "call") {
      yield* callDeltas(piece, index++);
    }
  }
}

type CallPiece = Extract<Piece, { type: "call" }>;

function* callDeltas(piece: CallPiece, index: number): Generator<object> {
  const { function: whole, ...rest } = callOf(piece);
  yield { tool_calls: [{ index, ...rest, function: { ...whole, arguments: "" } }] };
  for (const text of split(whole.arguments, piece.deltas))
    yield { tool_calls: [{ index, function: { arguments: text } }] };
}

// This wire has no custom tools: a freeform input travels as the one argument of a function.
const callOf = (piece: CallPiece) => ({
  id: piece.callId,
  type: "function",
  function: { name: piece.name, arguments: piece.freeform ? JSON.stringify({ input: piece.input }) : piece.input },
});

const textOf = (pieces: Piece[]): string =>
  pieces.flatMap((piece) => (piece.type === "message" ? [piece.text] : [])).join("");

function finishReason({ ending, pieces }: Content): string {
  if (ending.kind === "incomplete") return ending.reason === "max_output_tokens" ? "length" : ending.reason;
  return pieces.some((piece) => piece.type === "call") ? "tool_calls" : "stop";
}

const errorOf = ({ code, message }: Extract<Ending, { kind: "failed" }>) => ({ message, type: "server_error", code });

function usageOf({ usage }: Content): object | null {
  if (!usage) return null;
  return {
    prompt_tokens: usage.inputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedInputTokens },
    completion_tokens: usage.outputTokens,
    completion_tokens_details: { reasoning_tokens: usage.reasoningOutputTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}
