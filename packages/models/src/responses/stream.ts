// Builds a reply from the events of a Responses stream. Completed items count; deltas are only shown.
import type { Block, MessageBlock, Usage, WebSearchAction } from "@agentcli/protocol";
import { type EventOutcome, keepAliveOf, type StreamReader } from "../attempt.ts";
import { type Attempt, failAttempt } from "../failure.ts";
import { openRepeatedEvents } from "../repeated-events.ts";
import { count, type Fields, fields, list, parseJson, text } from "../untrusted.ts";
import type { ReplyContext } from "../wire.ts";
import { incompleteFailure, responseFailure } from "./errors.ts";
import { openItems, type ResponseItems } from "./items.ts";

export function responsesReader({ serverName, request, onProgress }: ReplyContext): StreamReader {
  const items = openItems({ toBlocks: blockOf, onBlock: (block) => onProgress({ type: "settled", block }) });
  const isNew = openNumbers();
  const repeated = openRepeatedEvents({
    textOf,
    onText(delta, first, number) {
      if (delta !== "" && !items.isSettled(indexOf(first)) && isNew(number ?? first.sequence_number))
        onProgress({ type: "text", delta });
    },
  });

  function take(data: string, name: string): EventOutcome {
    const parsed = parseJson(data);
    if (parsed === undefined) return failAttempt("protocol", `${serverName} sent an event that is not JSON.`);
    const event = fields(parsed);
    switch (text(event.type) ?? name) {
      case "response.output_text.delta":
        if (textOf(event) !== undefined) repeated.learn({ name, data, fields: event });
        return show("text", event);
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return show("reasoning", event);
      case "response.output_item.added":
        return announce(event);
      case "response.output_item.done":
        return void items.settle(indexOf(event), fields(event.item));
      case "response.completed":
        return completed(items, fields(event.response), { serverName, request });
      case "response.failed":
        return responseFailure(serverName, fields(fields(event.response).error));
      case "error":
        return responseFailure(serverName, fields(event.error ?? event));
      case "response.incomplete":
        return incompleteFailure(serverName, fields(event.response), usageOf);
    }
    return keepAliveOf(text(event.type) ?? name);
  }

  function show(type: "text" | "reasoning", event: Fields): undefined {
    const delta = text(event.delta);
    if (delta && !items.isSettled(indexOf(event)) && isNew(event.sequence_number)) onProgress({ type, delta });
  }

  function announce(event: Fields): undefined {
    const item = fields(event.item);
    const name = text(item.name);
    if (name && isCall(item) && items.announceCall(indexOf(event))) onProgress({ type: "calling", name });
  }

  return { take, skim: repeated.skim, end: () => undefined };
}

function completed(
  items: ResponseItems,
  response: Fields,
  { serverName, request }: Pick<ReplyContext, "serverName" | "request">,
): Attempt {
  const missing = items.complete(response.output);
  if (missing.length > 0)
    return failAttempt("protocol", `${serverName} completed its response without a call that it had begun.`);
  return {
    kind: "replied",
    blocks: items.blocks,
    usage: usageOf(fields(response.usage)),
    model: text(response.model) ?? request.model,
  };
}

/** Of a delta that is known by its data alone. */
const textOf = (event: Fields): string | undefined =>
  event.type === "response.output_text.delta" ? text(event.delta) : undefined;

/** Whether the number of an event is above all before it. Numbers below 1 do not count: some servers give all events the same. */
function openNumbers(): (number: unknown) => boolean {
  let last = 0;
  return (given) => {
    const number = count(given);
    if (number === 0) return true;
    if (number <= last) return false;
    last = number;
    return true;
  };
}

const indexOf = (event: Fields): number | undefined =>
  Number.isSafeInteger(event.output_index) && Number(event.output_index) >= 0 ? Number(event.output_index) : undefined;

const isCall = (item: Fields): boolean => item.type === "function_call" || item.type === "custom_tool_call";

function blockOf(item: Fields): Block[] {
  const id = text(item.id);
  if (item.type === "message") {
    const message = { type: "message", text: list(item.content).map(partText).join("") } as const;
    return [{ ...message, ...phaseOf(item), ...(id && { wireId: id }) }];
  }
  if (item.type === "reasoning") return [reasoningOf(item, id)];
  if (item.type === "web_search_call")
    return [{ type: "web_search", action: actionOf(fields(item.action)), ...(id && { wireId: id }) }];
  if (!isCall(item)) return [];
  const form = item.type === "function_call" ? "function" : "freeform";
  return [
    {
      type: "call",
      wireId: text(item.call_id) ?? id ?? "",
      ...(id && { itemId: id }),
      name: text(item.name) ?? "",
      form,
      input: text(form === "function" ? item.arguments : item.input) ?? "",
    },
  ];
}

const phaseOf = ({ phase }: Fields): Pick<MessageBlock, "phase"> =>
  phase === "commentary" || phase === "final_answer" ? { phase } : {};

/** Of what the provider sends, only what the wire defines. */
function actionOf(action: Fields): WebSearchAction {
  const given = (key: string) => {
    const value = text(action[key]);
    return value === undefined ? {} : { [key]: value };
  };
  switch (action.type) {
    case "search": {
      const queries = list(action.queries).flatMap((query) => text(query) ?? []);
      return { type: "search", ...given("query"), ...(queries.length > 0 && { queries }) };
    }
    case "open_page":
      return { type: "open_page", ...given("url") };
    case "find_in_page":
    case "find":
      return { type: "find_in_page", ...given("url"), ...given("pattern") };
    default:
      return { type: "other" };
  }
}

const partText = (part: unknown): string => text(fields(part).text) ?? text(fields(part).refusal) ?? "";

function reasoningOf(item: Fields, id: string | undefined): Block {
  const reasoningText = list(item.content).map(partText).join("");
  const encrypted = text(item.encrypted_content);
  return {
    type: "reasoning",
    summary: list(item.summary).map(partText),
    ...(reasoningText && { text: reasoningText }),
    ...(encrypted && { encrypted }),
    ...(id && { wireId: id }),
  };
}

function usageOf(usage: Fields): Usage {
  const input = fields(usage.input_tokens_details);
  return {
    inputTokens: count(usage.input_tokens),
    cachedInputTokens: count(input.cached_tokens),
    cacheWriteInputTokens: count(input.cache_write_tokens),
    outputTokens: count(usage.output_tokens),
    reasoningOutputTokens: count(fields(usage.output_tokens_details).reasoning_tokens),
  };
}
