// Builds a reply from the chunks of a chat completion. Lenient: servers differ in what they send and when.
import type { Block, CallBlock, Usage } from "@agentcli/protocol";
import type { EventOutcome, StreamReader } from "../attempt.ts";
import { type Attempt, failAttempt } from "../failure.ts";
import { freeformInput, freeformNames } from "../freeform.ts";
import { openRepeatedEvents } from "../repeated-events.ts";
import { count, type Fields, fields, list, parseJson, text } from "../untrusted.ts";
import type { ReplyContext } from "../wire.ts";
import { chatFailure, finishFailure } from "./errors.ts";

export function chatReader({ serverName, request, onProgress }: ReplyContext): StreamReader {
  // Appending does not copy: the pieces are linked and flattened once, at the end.
  let messageText: string | undefined;
  let reasoningText = "";
  const repeated = openRepeatedEvents({ textOf: contentOf, onText: show });
  const calls = openCalls((name) => onProgress({ type: "calling", name }));
  let usage: Fields = {};
  let model = request.model;
  let finish: string | undefined;

  function take(data: string, name: string): EventOutcome {
    if (data.trim() === "[DONE]") return settle();
    const parsed = parseJson(data);
    if (parsed === undefined) return failAttempt("protocol", `${serverName} sent an event that is not JSON.`);
    const chunk = fields(parsed);
    if (chunk.error) return chatFailure(serverName, chunk.error);
    model = text(chunk.model) || model;
    if (chunk.usage) usage = fields(chunk.usage);
    const [first] = list(chunk.choices);
    if (first === undefined && !chunk.usage) return "keep-alive";
    const choice = fields(first);
    takeDelta(fields(choice.delta));
    if (contentOf(chunk) !== undefined) repeated.learn({ name, data, fields: chunk });
    finish = text(choice.finish_reason) ?? finish;
    return undefined;
  }

  function takeDelta(delta: Fields): void {
    const reasoningDelta = text(delta.reasoning_content) ?? text(delta.reasoning);
    const textDelta = text(delta.content) ?? text(delta.refusal);
    if (reasoningDelta) onProgress({ type: "reasoning", delta: reasoningDelta });
    reasoningText += reasoningDelta ?? "";
    if (textDelta !== undefined) show(textDelta);
    if (delta.tool_calls) for (const piece of list(delta.tool_calls)) calls.take(fields(piece));
  }

  function show(delta: string): undefined {
    if (delta) onProgress({ type: "text", delta });
    messageText = (messageText ?? "") + delta;
  }

  function settle(): Attempt {
    const used = usageOf(usage);
    return finishFailure(serverName, finish, used) ?? { kind: "replied", blocks: blocks(), usage: used, model };
  }

  function blocks(): Block[] {
    const thoughts: Block[] = reasoningText ? [{ type: "reasoning", summary: [], text: reasoningText }] : [];
    const called = calls.blocks(`call_${request.messages.length}`, freeformNames(request.tools));
    // Servers put an empty text beside reasoning and calls; alone it is what the model said.
    const isMessage = messageText || (messageText === "" && !reasoningText && called.length === 0);
    const written: Block[] = isMessage ? [{ type: "message", text: messageText ?? "" }] : [];
    return [...thoughts, ...written, ...called];
  }

  return { take, skim: repeated.skim, end: () => (finish === undefined ? undefined : settle()) };
}

/** Of a chunk that has nothing else. */
function contentOf(chunk: Fields): string | undefined {
  const delta = fields(fields(list(chunk.choices)[0]).delta);
  const isAlone = !delta.tool_calls && !delta.reasoning_content && !delta.reasoning;
  return isAlone ? text(delta.content) : undefined;
}

interface OpenCall {
  index: unknown;
  id: string | undefined;
  name: string;
  pieces: string[];
}

/** Joins tool calls from pieces that name their call by index, by id, or not at all. */
function openCalls(onBegin: (name: string) => void) {
  const calls: OpenCall[] = [];

  function take(piece: Fields): void {
    const { name, arguments: args } = fields(piece.function);
    const call = callOf(piece);
    if (call.name === "" && text(name)) {
      call.name = text(name) ?? "";
      onBegin(call.name);
    }
    if (args !== undefined && args !== null) call.pieces.push(text(args) ?? JSON.stringify(args));
  }

  function callOf(piece: Fields): OpenCall {
    const id = text(piece.id) || undefined;
    const index = piece.index ?? undefined;
    const same = index === undefined ? calls.at(-1) : calls.findLast((call) => call.index === index);
    if (same && !beginsAnother(same, piece)) {
      same.id ??= id;
      return same;
    }
    const call: OpenCall = { index, id, name: "", pieces: [] };
    calls.push(call);
    return call;
  }

  const blocks = (idPrefix: string, freeform: Set<string>): CallBlock[] =>
    withoutRepeats(calls).map(({ id, name, args }, index) => ({
      type: "call",
      wireId: id ?? `${idPrefix}_${index}`,
      name,
      ...(freeform.has(name) ? { form: "freeform", input: freeformInput(args) } : { form: "function", input: args }),
    }));

  return { take, blocks };
}

// Some servers give every call index 0 and different ids; some send neither, so that only a new name starts a call.
function beginsAnother(same: OpenCall, { id, index, function: called }: Fields): boolean {
  if (text(id)) return same.id !== undefined && same.id !== id;
  return (index ?? undefined) === undefined && same.name !== "" && Boolean(text(fields(called).name));
}

interface WholeCall {
  id: string | undefined;
  name: string;
  args: string;
}

/** Chunks of this wire have no numbers: a repeated call has the id, the name and the arguments of an earlier one. */
function withoutRepeats(calls: OpenCall[]): WholeCall[] {
  const known = new Set<string>();
  return calls.flatMap(({ id, name, pieces }) => {
    const args = once(pieces.join(""));
    const key = JSON.stringify([id, name, args]);
    if (id !== undefined && known.has(key)) return [];
    known.add(key);
    return [{ id, name, args }];
  });
}

const maxRepeats = 16;

/** Arguments that were sent several times are not JSON as a whole; one of the equal parts is. */
function once(args: string): string {
  if (!args.startsWith("{") || parseJson(args) !== undefined) return args;
  for (let times = 2; times <= maxRepeats; times += 1) {
    const part = args.slice(0, args.length / times);
    if (part.repeat(times) === args && parseJson(part) !== undefined) return part;
  }
  return args;
}

function usageOf(usage: Fields): Usage {
  return {
    inputTokens: count(usage.prompt_tokens),
    cachedInputTokens: count(fields(usage.prompt_tokens_details).cached_tokens),
    cacheWriteInputTokens: 0,
    outputTokens: count(usage.completion_tokens),
    reasoningOutputTokens: count(fields(usage.completion_tokens_details).reasoning_tokens),
  };
}
