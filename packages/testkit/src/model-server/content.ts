// A scripted reply with all defaults filled in, the same for all wires.
import type { PlainReply, ScriptedCall, ScriptedUsage } from "./script.ts";

export interface Content {
  id: string;
  model: string;
  pieces: Piece[];
  usage: Required<ScriptedUsage> | null;
  ending: Ending;
}

export type Piece =
  | { type: "reasoning"; id: string; summary: string[]; encrypted: string | undefined }
  | { type: "search"; id: string; action: object }
  | { type: "message"; id: string; text: string; phase?: string; deltas: number }
  | { type: "call"; id: string; callId: string; name: string; input: string; freeform: boolean; deltas: number };

export type Ending =
  | { kind: "completed" }
  /** Only on the Anthropic wire; complete on the others. */
  | { kind: "paused" }
  | { kind: "failed"; code: string; message: string }
  | { kind: "incomplete"; reason: string };

/** `number` makes ids unique within a server and the same in each run. */
export function fillIn(answer: PlainReply, ending: Ending, number: number, requestedModel: string): Content {
  const prefix = `${number}`;
  return {
    id: `resp_${prefix}`,
    model: answer.model ?? requestedModel,
    pieces: [
      ...reasoningOf(answer, prefix),
      ...searchesOf(answer, prefix),
      ...messagesOf(answer, prefix),
      ...callsOf(answer, prefix),
    ],
    usage: answer.usage === null ? null : { ...defaultUsage, ...answer.usage },
    ending,
  };
}

/** The text in `count` pieces (or one per character), never within a surrogate pair. */
export function* split(text: string, count: number): Generator<string> {
  const size = Math.max(1, text.length / count);
  let start = 0;
  for (let border = size; start < text.length; border += size) {
    let end = Math.max(start + 1, Math.round(border));
    if (isLowSurrogate(text.charCodeAt(end))) end += 1;
    yield text.slice(start, end);
    start = end;
  }
}

const defaultUsage: Required<ScriptedUsage> = {
  inputTokens: 100,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 10,
  reasoningOutputTokens: 0,
};

function reasoningOf({ reasoning }: PlainReply, prefix: string): Piece[] {
  if (!reasoning) return [];
  return [{ type: "reasoning", id: `rs_${prefix}`, summary: reasoning.summary, encrypted: reasoning.encrypted }];
}

const searchesOf = ({ searches = [] }: PlainReply, prefix: string): Piece[] =>
  searches.map((action, index) => ({ type: "search", id: `ws_${prefix}_${index}`, action }));

function messagesOf(answer: PlainReply, prefix: string): Piece[] {
  const deltas = answer.deltas ?? 1;
  const texts: { text: string; phase?: string; deltas: number }[] = (answer.messages ?? []).map((message) => ({
    ...(typeof message === "string" ? { text: message } : message),
    deltas,
  }));
  if (answer.text) texts.push({ text: filler(answer.text.bytes), deltas: answer.text.deltas ?? deltas });
  return texts.map((text, index) => ({ type: "message", id: `msg_${prefix}_${index}`, ...text }));
}

function callsOf(answer: PlainReply, prefix: string): Piece[] {
  return (answer.calls ?? []).map((call, index) => ({
    type: "call",
    id: `${call.freeform ? "ctc" : "fc"}_${prefix}_${index}`,
    callId: call.callId ?? `call_${prefix}_${index}`,
    name: call.name,
    input: inputOf(call),
    freeform: call.freeform ?? false,
    deltas: answer.deltas ?? 1,
  }));
}

const inputOf = (call: ScriptedCall): string =>
  typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);

const words = "A scripted model has nothing to say and says it at length. ";
const filler = (bytes: number): string => words.repeat(Math.ceil(bytes / words.length)).slice(0, bytes);

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
