// Replies of the model: shown while they stream, and completed from the record.

import { callsOf, isShown } from "@agentcli/engine";
import type { Block, RecordOf, Usage } from "@agentcli/protocol";
import type { ThreadItem, TokenUsageBreakdown } from "@agentcli/protocol/app-server";
import { streamedText } from "../streamed.ts";
import { budgetUse } from "./budget.ts";
import { webItem } from "./items.ts";
import type { Notice } from "./notice.ts";
import {
  completeItem,
  noneStreamed,
  type ShownThread,
  type StreamedItem,
  startItem,
  turnIds,
  wholeItem,
} from "./thread.ts";

type ContentBlock = Exclude<Block, { type: "call" | "web_search" }>;

/** A delta of text or reasoning. The first of its kind starts the item. */
export function streamReply(shown: ShownThread, kind: StreamedItem["kind"], piece: string): Notice[] {
  if (!shown.turn || piece === "" || (shown.review && kind === "message")) return [];
  const id = itemId(shown, kind, shown.streamed[kind]);
  const existing = shown.streams.get(id);
  const continues = existing?.attempt === "this";
  const stream: StreamedItem = continues ? existing : { kind, text: streamedText(shown.scrub), attempt: "this" };
  shown.streams.set(id, stream);
  // Before the piece is added: clients append the deltas to the text that an item starts with.
  const begins = continues
    ? []
    : [startItem(shown, streamItem(id, stream), shown.now()), ...partNotice(shown, id, kind)];
  const ready = stream.text.add(piece);
  return [...begins, ...(ready === "" ? [] : [delta(shown, id, kind, ready)])];
}

/** A block is complete: what streams next belongs to the item after it. An empty message has none of its own. */
export function endStreamed(shown: ShownThread, block: Block): Notice[] {
  const hasItem = block.type === "reasoning" || (block.type === "message" && block.text.trim() !== "");
  if (hasItem) shown.streamed[block.type] += 1;
  return [];
}

/** The attempt failed: its stream is discarded, and the next one starts the same items again. */
export function restartReply(shown: ShownThread): Notice[] {
  for (const stream of shown.streams.values()) stream.attempt = "earlier";
  shown.streamed = noneStreamed();
  return [];
}

export function replied(shown: ShownThread, seq: number, record: RecordOf<"model.replied">, atMs: number): Notice[] {
  const completed = shownBlocks(shown, record.blocks).flatMap((block) => blockNotices(shown, block, atMs));
  const searched = record.blocks.flatMap((block, index) =>
    block.type === "web_search" ? wholeItem(shown, webItem(`search-${seq}.${index}`, block.action), atMs) : [],
  );
  const abandoned = dropStreams(shown, atMs);
  for (const { callId, block } of callsOf(seq, record.blocks)) {
    const output = streamedText(shown.scrub);
    shown.calls.set(callId, { callId, block, item: null, hasBegun: false, output, args: null });
    shown.open.add(callId);
  }
  shown.replies += 1;
  shown.streamed = noneStreamed();
  shown.budget.spent.tools += record.blocks.filter(({ type }) => type === "call").length;
  shown.heldUsage.push(chargeUsage(shown, record));
  return [...searched, ...completed, ...abandoned, ...(shown.open.size === 0 ? releaseUsage(shown) : [])];
}

/** Streamed items that are not part of the final reply: they are completed, and the log does not contain them. */
function dropStreams(shown: ShownThread, atMs: number): Notice[] {
  const ids = [...shown.streams.keys()];
  const notices = abandonReply(shown, atMs);
  if (shown.turn) shown.turn.items = shown.turn.items.filter(({ id }) => !ids.includes(id));
  return notices;
}

/** An unfinished reply is shown as far as it was received. */
export function abandonReply(shown: ShownThread, atMs: number): Notice[] {
  const notices = [...shown.streams].map(([id, stream]) => completeItem(shown, streamItem(id, stream), atMs));
  shown.streams.clear();
  return notices;
}

export function releaseUsage(shown: ShownThread): Notice[] {
  return shown.heldUsage.splice(0);
}

interface Charged {
  usage: Usage;
  costUsd?: number | null | undefined;
}

export function chargeUsage(shown: ShownThread, { usage, costUsd }: Charged): Notice {
  const last = { totalTokens: usage.inputTokens + usage.outputTokens, ...usage };
  shown.usage = { total: addTokens(shown.usage.total, last), last };
  const { spent } = shown.budget;
  spent.usd += costUsd ?? 0;
  spent.tokens += last.totalTokens;
  spent.turns += 1;
  const budget = budgetUse(shown.budget);
  const tokenUsage = { ...shown.usage, modelContextWindow: shown.contextWindow(), ...(budget && { budget }) };
  return { method: "thread/tokenUsage/updated", params: { ...turnIds(shown), tokenUsage } };
}

interface ShownBlock {
  block: ContentBlock;
  /** Its position among the blocks of its kind. */
  index: number;
}

/** Review findings are JSON, and shown as text when the turn ends. */
function shownBlocks({ review }: ShownThread, blocks: Block[]): ShownBlock[] {
  const isFinal = !blocks.some((block) => block.type === "call");
  const counts = { message: 0, reasoning: 0 };
  return blocks.flatMap((block) => {
    if (block.type === "call" || block.type === "web_search" || !isShown(block, blocks)) return [];
    const index = counts[block.type]++;
    return review && isFinal && block.type === "message" ? [] : [{ block, index }];
  });
}

function blockNotices(shown: ShownThread, { block, index }: ShownBlock, atMs: number): Notice[] {
  const id = itemId(shown, block.type, index);
  const item = itemOf(id, block);
  const stream = shown.streams.get(id);
  if (stream?.attempt !== "this" && isEmpty(block)) return [];
  shown.streams.delete(id);
  if (stream?.attempt !== "this") return wholeItem(shown, item, atMs);
  const rest = stream.text.rest(block.type === "message" ? block.text : block.summary.join("\n\n"));
  return [...(rest === "" ? [] : [delta(shown, id, block.type, rest)]), completeItem(shown, item, atMs)];
}

const isEmpty = (block: ContentBlock): boolean =>
  block.type === "reasoning" && block.text === undefined && block.summary.every((part) => part.trim() === "");

/** Derived from the log alone: the same after a restart, and the same for a retried reply. */
const itemId = ({ turns, replies }: ShownThread, kind: StreamedItem["kind"], index: number): string =>
  `${kind}-${turns.length}.${replies}.${index}`;

const itemOf = (id: string, block: ContentBlock): ThreadItem =>
  block.type === "message"
    ? { id, type: "agentMessage", text: block.text, ...(block.phase && { phase: block.phase }) }
    : { id, type: "reasoning", summary: block.summary, content: block.text === undefined ? [] : [block.text] };

const streamItem = (id: string, { kind, text }: StreamedItem): ThreadItem =>
  kind === "message"
    ? { id, type: "agentMessage", text: text.shown() }
    : { id, type: "reasoning", summary: text.shown() === "" ? [] : [text.shown()], content: [] };

/** Items that are still streaming, for clients that join meanwhile. */
export const streamedItems = ({ streams }: ShownThread): ThreadItem[] =>
  [...streams].map(([id, stream]) => streamItem(id, stream));

const partNotice = (shown: ShownThread, itemId: string, kind: StreamedItem["kind"]): Notice[] =>
  kind === "message"
    ? []
    : [{ method: "item/reasoning/summaryPartAdded", params: { ...turnIds(shown), itemId, summaryIndex: 0 } }];

const delta = (shown: ShownThread, itemId: string, kind: StreamedItem["kind"], text: string): Notice =>
  kind === "message"
    ? { method: "item/agentMessage/delta", params: { ...turnIds(shown), itemId, delta: text } }
    : {
        method: "item/reasoning/summaryTextDelta",
        params: { ...turnIds(shown), itemId, delta: text, summaryIndex: 0 },
      };

const addTokens = (left: TokenUsageBreakdown, right: TokenUsageBreakdown): TokenUsageBreakdown => ({
  totalTokens: left.totalTokens + right.totalTokens,
  inputTokens: left.inputTokens + right.inputTokens,
  cachedInputTokens: left.cachedInputTokens + right.cachedInputTokens,
  cacheWriteInputTokens: left.cacheWriteInputTokens + right.cacheWriteInputTokens,
  outputTokens: left.outputTokens + right.outputTokens,
  reasoningOutputTokens: left.reasoningOutputTokens + right.reasoningOutputTokens,
});
