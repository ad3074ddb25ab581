// Limits long outputs to head and tail: for programs above 8 MiB, for the model by its token budget.
import { byteLength, estimateBytes, estimateText } from "./state/tokens.ts";

export const wholeOutputBytes = 8 * 1024 * 1024;

export interface OutputCollector {
  add(text: string): void;
  text(): string;
  /** Of all that was added, also of what `text` leaves out. */
  size(): OutputSize;
}

export interface OutputSize {
  bytes: number;
  lines: number;
}

/** Keeps everything up to `limit` characters, then the first and the last half. The cost of `add` does not grow with the total. */
export function collectOutput(limit = wholeOutputBytes): OutputCollector {
  const half = Math.floor(limit / 2);
  const head: string[] = [];
  let headLength = 0;
  let tail: string[] = [];
  let tailLength = 0;
  let dropped = 0;
  let bytes = 0;
  let lineEnds = 0;
  let last = "";

  return {
    add(text) {
      bytes += byteLength(text);
      lineEnds += countLineEnds(text);
      last = text.at(-1) ?? last;
      const room = half - headLength;
      const first = room > 0 ? text.slice(0, room) : "";
      if (first) {
        head.push(first);
        headLength += first.length;
      }
      const rest = first.length === text.length ? "" : text.slice(first.length);
      if (!rest) return;
      tail.push(rest);
      tailLength += rest.length;
      if (tailLength > limit) shortenTail();
    },
    text() {
      shortenTail();
      const marker = dropped > 0 ? `\n[… ${dropped} characters of output left out …]\n` : "";
      return head.join("") + marker + tail.join("");
    },
    size: () => ({ bytes, lines: lineEnds + (last === "" || last === "\n" ? 0 : 1) }),
  };

  function shortenTail(): void {
    if (tailLength <= half) return;
    const joined = tail.join("");
    dropped += tailLength - half;
    tail = [joined.slice(-half)];
    tailLength = half;
  }
}

/** The model's copy: the middle is replaced by a notice so that the text fits `maxTokens`. */
export const truncateForModel = (text: string, maxTokens: number): string => cutForModel(text, maxTokens).text;

export interface CutText {
  text: string;
  /** Lines at the beginning and at the end that are left; undefined if all are. */
  shown: { first: number; last: number } | undefined;
}

/** `size` is that of the whole output, where the text has lost a part already. */
export function cutForModel(text: string, maxTokens: number, size?: OutputSize): CutText {
  const tokens = estimateText(text);
  if (tokens <= maxTokens) return { text, shown: undefined };
  const bytes = byteLength(text);
  const characters = Math.floor((maxTokens * 4 * text.length) / bytes / 2);
  const head = text.slice(0, border(text, characters));
  const tail = text.slice(border(text, text.length - characters));
  const all = size ? estimateBytes(size.bytes) : tokens;
  const lines = size?.lines ?? text.split("\n").length;
  const cut = all - estimateText(head) - estimateText(tail);
  return {
    text:
      `Warning: truncated output (original token count: ${all})\nTotal output lines: ${lines}\n\n` +
      `${head}…${cut} tokens truncated…${tail}`,
    shown: { first: countLineEnds(head) + 1, last: countLineEnds(tail) + (tail.endsWith("\n") ? 0 : 1) },
  };
}

export const sizeOfText = (text: string): OutputSize => ({
  bytes: byteLength(text),
  lines: countLineEnds(text) + (text === "" || text.endsWith("\n") ? 0 : 1),
});

function countLineEnds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Moves a cut out of the middle of a surrogate pair. */
function border(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff ? index + 1 : index;
}
