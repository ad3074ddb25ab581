// Replies of the model: shown while they come, and as they were when they are there.
import type { Block, RecordOf, Usage } from "@agentcli/protocol";
import type { ThreadItem, TokenUsageBreakdown } from "@agentcli/protocol/app-server";
import { callsOf } from "../../state.ts";
import { streamedText } from "../streamed.ts";
import type { Notice } from "./notice.ts";
import { completeItem, place, type Shown, type StreamedItem, startItem, wholeItem } from "./thread.ts";

type SaidBlock = Exclude<Block, { type: "call" }>;

/** A piece of text or reasoning. The first of its kind opens the item. */
export function streamReply(shown: Shown, kind: StreamedItem["kind"], piece: string): Notice[] {
  if (!shown.turn || piece === "" || (shown.review && kind === "message")) return [];
  const id = itemId(shown, kind, 0);
  const known = shown.streams.get(id);
  const isGoingOn = known?.attempt === "this";
  const stream: StreamedItem = isGoingOn ? known : { kind, text: streamedText(shown.scrub), attempt: "this" };
  shown.streams.set(id, stream);
  const ready = stream.text.add(piece);
  const begins = isGoingOn
    ? []
    : [startItem(shown, streamItem(id, stream), shown.now()), ...partNotice(shown, id, kind)];
  return [...begins, ...(ready === "" ? [] : [delta(shown, id, kind, ready)])];
}

/** The attempt was given up: what it streamed does not count, and the next one begins the same items again. */
export function restartReply(shown: Shown): Notice[] {
  for (const stream of shown.streams.values()) stream.attempt = "earlier";
  return [];
}

export function replied(shown: Shown, seq: number, record: RecordOf<"model.replied">, atMs: number): Notice[] {
  const said = shownBlocks(shown, record.blocks).flatMap((block) => sayBlock(shown, block, atMs));
  const unsaid = dropStreams(shown, atMs);
  for (const { callId, block } of callsOf(seq, record.blocks)) {
    const output = streamedText(shown.scrub);
    shown.calls.set(callId, { callId, block, item: null, hasBegun: false, output, args: null });
    shown.open.add(callId);
  }
  shown.replies += 1;
  shown.heldUsage.push(chargeUsage(shown, record.usage));
  return [...said, ...unsaid, ...(shown.open.size === 0 ? releaseUsage(shown) : [])];
}

/** Streamed, and not part of what the model said in the end: it is over, and the log will not know of it. */
function dropStreams(shown: Shown, atMs: number): Notice[] {
  const ids = [...shown.streams.keys()];
  const notices = abandonReply(shown, atMs);
  if (shown.turn) shown.turn.items = shown.turn.items.filter(({ id }) => !ids.includes(id));
  return notices;
}

/** A reply that never came to its end is shown as far as it came. */
export function abandonReply(shown: Shown, atMs: number): Notice[] {
  const notices = [...shown.streams].map(([id, stream]) => completeItem(shown, streamItem(id, stream), atMs));
  shown.streams.clear();
  return notices;
}

export function releaseUsage(shown: Shown): Notice[] {
  return shown.heldUsage.splice(0);
}

export function chargeUsage(shown: Shown, usage: Usage): Notice {
  const last = { totalTokens: usage.inputTokens + usage.outputTokens, ...usage };
  shown.usage = { total: addTokens(shown.usage.total, last), last };
  const tokenUsage = { ...shown.usage, modelContextWindow: shown.contextWindow() };
  return { method: "thread/tokenUsage/updated", params: { ...place(shown), tokenUsage } };
}

interface Said {
  block: SaidBlock;
  /** Which of its kind in the reply. */
  index: number;
}

/** What a review finds is JSON, and shown as text when the turn ends. */
function shownBlocks({ review }: Shown, blocks: Block[]): Said[] {
  const isFinal = !blocks.some((block) => block.type === "call");
  const counts = { message: 0, reasoning: 0 };
  return blocks.flatMap((block) => {
    if (block.type === "call" || (block.type === "message" && block.text.trim() === "")) return [];
    const index = counts[block.type]++;
    return review && isFinal && block.type === "message" ? [] : [{ block, index }];
  });
}

function sayBlock(shown: Shown, { block, index }: Said, atMs: number): Notice[] {
  const id = itemId(shown, block.type, index);
  const item = itemOf(id, block);
  const stream = shown.streams.get(id);
  if (stream?.attempt !== "this" && isEmpty(block)) return [];
  shown.streams.delete(id);
  if (stream?.attempt !== "this") return wholeItem(shown, item, atMs);
  const rest = stream.text.rest(block.type === "message" ? block.text : block.summary.join("\n\n"));
  return [...(rest === "" ? [] : [delta(shown, id, block.type, rest)]), completeItem(shown, item, atMs)];
}

const isEmpty = (block: SaidBlock): boolean =>
  block.type === "reasoning" && block.text === undefined && block.summary.every((part) => part.trim() === "");

/** From what the log alone knows: the same after a restart, and the same for a reply that is tried again. */
const itemId = ({ turns, replies }: Shown, kind: StreamedItem["kind"], index: number): string =>
  `${kind}-${turns.length}.${replies}.${index}`;

const itemOf = (id: string, block: SaidBlock): ThreadItem =>
  block.type === "message"
    ? { id, type: "agentMessage", text: block.text }
    : { id, type: "reasoning", summary: block.summary, content: block.text === undefined ? [] : [block.text] };

const streamItem = (id: string, { kind, text }: StreamedItem): ThreadItem =>
  kind === "message"
    ? { id, type: "agentMessage", text: text.shown() }
    : { id, type: "reasoning", summary: text.shown() === "" ? [] : [text.shown()], content: [] };

/** What is on its way, for whoever joins in the middle. */
export const streamedItems = ({ streams }: Shown): ThreadItem[] =>
  [...streams].map(([id, stream]) => streamItem(id, stream));

const partNotice = (shown: Shown, itemId: string, kind: StreamedItem["kind"]): Notice[] =>
  kind === "message"
    ? []
    : [{ method: "item/reasoning/summaryPartAdded", params: { ...place(shown), itemId, summaryIndex: 0 } }];

const delta = (shown: Shown, itemId: string, kind: StreamedItem["kind"], text: string): Notice =>
  kind === "message"
    ? { method: "item/agentMessage/delta", params: { ...place(shown), itemId, delta: text } }
    : {
        method: "item/reasoning/summaryTextDelta",
        params: { ...place(shown), itemId, delta: text, summaryIndex: 0 },
      };

const addTokens = (left: TokenUsageBreakdown, right: TokenUsageBreakdown): TokenUsageBreakdown => ({
  totalTokens: left.totalTokens + right.totalTokens,
  inputTokens: left.inputTokens + right.inputTokens,
  cachedInputTokens: left.cachedInputTokens + right.cachedInputTokens,
  cacheWriteInputTokens: left.cacheWriteInputTokens + right.cacheWriteInputTokens,
  outputTokens: left.outputTokens + right.outputTokens,
  reasoningOutputTokens: left.reasoningOutputTokens + right.reasoningOutputTokens,
});
