// Chunks of a chat completion become a reply. Lenient: servers differ in what they leave out and when they send it.
import type { Block, CallBlock, Usage } from "@agentcli/protocol";
import type { StreamReader } from "../attempt.ts";
import { type Attempt, trouble } from "../trouble.ts";
import { count, type Fields, fields, list, parseJson, text } from "../untrusted.ts";
import type { Asking } from "../wire.ts";
import { chatTrouble, finishTrouble } from "./errors.ts";

export function chatReader({ serverName, request, onProgress }: Asking): StreamReader {
  // Appending does not copy: the pieces are linked and flattened once, at the end.
  let said = "";
  let thought = "";
  const calls = openCalls((name) => onProgress({ type: "calling", name }));
  let usage: Fields = {};
  let model = request.model;
  let finish: string | undefined;

  function take(data: string): Attempt | undefined {
    if (data.trim() === "[DONE]") return settle();
    const parsed = parseJson(data);
    if (parsed === undefined) return trouble("protocol", `${serverName} sent an event that is not JSON.`);
    const chunk = fields(parsed);
    if (chunk.error) return chatTrouble(serverName, chunk.error);
    model = text(chunk.model) || model;
    if (chunk.usage) usage = fields(chunk.usage);
    const choice = fields(list(chunk.choices)[0]);
    takeDelta(fields(choice.delta));
    finish = text(choice.finish_reason) ?? finish;
    return undefined;
  }

  function takeDelta(delta: Fields): void {
    const thinking = text(delta.reasoning_content) ?? text(delta.reasoning);
    const saying = text(delta.content) ?? text(delta.refusal);
    if (thinking) onProgress({ type: "reasoning", delta: thinking });
    if (saying) onProgress({ type: "text", delta: saying });
    thought += thinking ?? "";
    said += saying ?? "";
    if (delta.tool_calls) for (const piece of list(delta.tool_calls)) calls.take(fields(piece));
  }

  function settle(): Attempt {
    const used = usageOf(usage);
    return finishTrouble(serverName, finish, used) ?? { kind: "replied", blocks: blocks(), usage: used, model };
  }

  function blocks(): Block[] {
    const freeform = new Set(request.tools.flatMap((tool) => (tool.form === "freeform" ? [tool.name] : [])));
    const reasoning: Block[] = thought ? [{ type: "reasoning", summary: [], text: thought }] : [];
    const message: Block[] = said ? [{ type: "message", text: said }] : [];
    return [...reasoning, ...message, ...calls.blocks(`call_${request.messages.length}`, freeform)];
  }

  return { take, end: () => (finish === undefined ? undefined : settle()) };
}

interface OpenCall {
  index: unknown;
  id: string | undefined;
  name: string;
  pieces: string[];
}

/** Puts tool calls together from pieces that name their call by index, by id, or not at all. */
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
    calls.map(({ id, name, pieces }, place) => ({
      type: "call",
      wireId: id ?? `${idPrefix}_${place}`,
      name,
      ...(freeform.has(name)
        ? { form: "freeform", input: freeformInput(pieces.join("")) }
        : { form: "function", input: pieces.join("") }),
    }));

  return { take, blocks };
}

// Some servers number every call 0 and tell them apart by id; some give neither, and only a new name tells.
function beginsAnother(same: OpenCall, { id, index, function: called }: Fields): boolean {
  if (text(id)) return same.id !== undefined && same.id !== id;
  return (index ?? undefined) === undefined && same.name !== "" && Boolean(text(fields(called).name));
}

const freeformInput = (args: string): string => text(fields(parseJson(args)).input) ?? args;

function usageOf(usage: Fields): Usage {
  return {
    inputTokens: count(usage.prompt_tokens),
    cachedInputTokens: count(fields(usage.prompt_tokens_details).cached_tokens),
    cacheWriteInputTokens: 0,
    outputTokens: count(usage.completion_tokens),
    reasoningOutputTokens: count(fields(usage.completion_tokens_details).reasoning_tokens),
  };
}
