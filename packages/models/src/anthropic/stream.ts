// Builds a reply from the events of a Messages stream: blocks that begin, grow and stop, one after the other.
import type { Block, Usage } from "@agentcli/protocol";
import { type EventOutcome, keepAliveOf, type StreamReader } from "../attempt.ts";
import { type Attempt, failAttempt } from "../failure.ts";
import { freeformNames } from "../freeform.ts";
import { openRepeatedEvents, type ParsedEvent } from "../repeated-events.ts";
import { count, type Fields, fields, parseJson, text } from "../untrusted.ts";
import type { ReplyContext } from "../wire.ts";
import { messagesFailure, stopFailure } from "./errors.ts";
import { openBlocks } from "./open-blocks.ts";

export function messagesReader({ serverName, request, onProgress }: ReplyContext): StreamReader {
  const open = openBlocks(freeformNames(request.tools));
  const blocks: Block[] = [];
  const repeated = openRepeatedEvents({
    textOf,
    onText: (delta, first) => open.growText(first, delta, onProgress),
  });
  let usage: Fields = {};
  let model = request.model;
  let stop: Fields | undefined;

  function take(data: string, name: string): EventOutcome {
    const parsed = parseJson(data);
    if (parsed === undefined) return failAttempt("protocol", `${serverName} sent an event that is not JSON.`);
    const event = fields(parsed);
    switch (text(event.type) ?? name) {
      case "content_block_delta":
        return grow({ name, data, fields: event });
      case "content_block_start":
        open.begin(event, onProgress);
        return undefined;
      case "content_block_stop":
        return finish(open.stop(event));
      case "message_start":
        return start(fields(event.message));
      case "message_delta":
        if (event.usage) usage = { ...usage, ...given(fields(event.usage)) };
        if (text(fields(event.delta).stop_reason)) stop = fields(event.delta);
        return undefined;
      case "message_stop":
        return settle();
      case "error":
        return messagesFailure(serverName, fields(event.error));
    }
    return keepAliveOf(text(event.type) ?? name);
  }

  function grow(event: ParsedEvent): undefined {
    open.grow(event.fields, onProgress);
    if (textOf(event.fields) !== undefined) repeated.learn(event);
  }

  function start(message: Fields): undefined {
    model = text(message.model) ?? model;
    usage = given(fields(message.usage));
  }

  function finish(block: Block | undefined): undefined {
    if (!block) return;
    blocks.push(block);
    onProgress({ type: "settled", block });
  }

  const settle = (): Attempt => replyOf({ serverName, open, blocks, usage, model, stop });

  return { take, skim: repeated.skim, end: () => (stop === undefined || open.count() > 0 ? undefined : settle()) };
}

interface Received {
  serverName: string;
  open: ReturnType<typeof openBlocks>;
  blocks: Block[];
  usage: Fields;
  model: string;
  /** The event that names the reason; undefined: it has not come. */
  stop: Fields | undefined;
}

function replyOf({ serverName, open, blocks, usage, model, stop }: Received): Attempt {
  if (open.count() > 0)
    return failAttempt("protocol", `${serverName} completed its response without a block that it had begun.`);
  if (stop === undefined) return failAttempt("stream_cut", `${serverName} ended its response without a reason.`);
  const used = usageOf(usage);
  const failure = stopFailure(serverName, stop, used);
  if (failure) return failure;
  const paused = stop.stop_reason === "pause_turn" ? { paused: open.content() } : {};
  return { kind: "replied", blocks, usage: used, model, ...paused };
}

/** Of a delta that is known by its data alone. */
const textOf = (event: Fields): string | undefined =>
  event.type === "content_block_delta" ? text(fields(event.delta).text) : undefined;

/** Members that are null say nothing: an earlier event had the figure. */
const given = (usage: Fields): Fields =>
  Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null && value !== undefined));

/** The wire counts what was read from and written to the cache apart from other input. */
function usageOf(usage: Fields): Usage {
  const cachedInputTokens = count(usage.cache_read_input_tokens);
  const cacheWriteInputTokens = count(usage.cache_creation_input_tokens);
  return {
    inputTokens: count(usage.input_tokens) + cachedInputTokens + cacheWriteInputTokens,
    cachedInputTokens,
    cacheWriteInputTokens,
    outputTokens: count(usage.output_tokens),
    reasoningOutputTokens: count(fields(usage.output_tokens_details).thinking_tokens),
  };
}
