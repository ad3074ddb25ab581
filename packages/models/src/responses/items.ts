// The items of one response: each settles once, however often the server repeats it, and leaves in the order of the response.
import type { Block } from "@agentcli/protocol";
import { type Fields, fields, list, text } from "../untrusted.ts";

export interface ResponseItems {
  /** False if this call was announced or settled before. */
  announceCall(index: number | undefined): boolean;
  /** A repeated item is dropped. */
  settle(index: number | undefined, item: Fields): void;
  isSettled(index: number | undefined): boolean;
  /** Adds what only the final event has. Returns the indexes of announced calls that never came. */
  complete(output: unknown): number[];
  readonly blocks: Block[];
}

interface ItemOptions {
  toBlocks(item: Fields): Block[];
  /** Called for each block, in the order of the response. */
  onBlock(block: Block): void;
}

export function openItems({ toBlocks, onBlock }: ItemOptions): ResponseItems {
  const announced = new Set<number>();
  const settled = new Map<number, Block[]>();
  const known = new Set<string>();
  const isRepeated = openRepeats();
  const blocks: Block[] = [];
  let next = 0;

  function release(index: number): void {
    for (const block of settled.get(index) ?? []) {
      blocks.push(block);
      onBlock(block);
    }
    next = index + 1;
  }

  function settle(given: number | undefined, item: Fields): void {
    if (given === undefined ? isRepeated(item) : settled.has(given)) return;
    for (const id of idsOf(item)) known.add(id);
    settled.set(given ?? firstFree(settled), toBlocks(item));
    while (settled.has(next)) release(next);
  }

  return {
    announceCall(index) {
      if (index === undefined) return true;
      if (announced.has(index) || settled.has(index)) return false;
      announced.add(index);
      return true;
    },
    settle,
    isSettled: (index) => index !== undefined && settled.has(index),
    complete(output) {
      for (const [index, item] of list(output).map(fields).entries()) {
        const ids = idsOf(item);
        if (ids.length > 0 && !ids.some((id) => known.has(id))) settle(index, item);
      }
      // The indexes of some servers have gaps.
      for (const index of [...settled.keys()].sort((left, right) => left - right)) {
        if (index >= next) release(index);
      }
      return [...announced].filter((index) => !settled.has(index));
    },
    blocks,
  };
}

const idsOf = (item: Fields): string[] => [text(item.id), text(item.call_id)].flatMap((id) => (id ? [`id ${id}`] : []));

/**
 * For servers that send no index: two calls have different ids, a repeated one is the same to the letter.
 * Only items of the same ids are compared: an item can have megabytes.
 */
function openRepeats(): (item: Fields) => boolean {
  const seen = new Map<string, { first: Fields; texts?: Set<string> }>();
  return (item) => {
    const key = JSON.stringify([item.type, ...idsOf(item)]);
    const same = seen.get(key);
    if (same === undefined) {
      seen.set(key, { first: item });
      return false;
    }
    same.texts ??= new Set([JSON.stringify(same.first)]);
    const before = same.texts.size;
    return same.texts.add(JSON.stringify(item)).size === before;
  };
}

function firstFree(settled: Map<number, unknown>): number {
  let index = settled.size;
  while (settled.has(index)) index += 1;
  return index;
}
