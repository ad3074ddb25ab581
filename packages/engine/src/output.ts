// Limits long outputs to head and tail: for programs above 8 MiB, for the model by its token budget.
import { byteLength, estimateText } from "./state/tokens.ts";

export const wholeOutputBytes = 8 * 1024 * 1024;

export interface OutputCollector {
  add(text: string): void;
  text(): string;
}

/** Keeps everything up to `limit` characters, then the first and the last half. The cost of `add` does not grow with the total. */
export function collectOutput(limit = wholeOutputBytes): OutputCollector {
  const half = Math.floor(limit / 2);
  const head: string[] = [];
  let headLength = 0;
  let tail: string[] = [];
  let tailLength = 0;
  let dropped = 0;

  return {
    add(text) {
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
export function truncateForModel(text: string, maxTokens: number): string {
  const tokens = estimateText(text);
  if (tokens <= maxTokens) return text;
  const bytes = byteLength(text);
  const characters = Math.floor((maxTokens * 4 * text.length) / bytes / 2);
  const head = text.slice(0, border(text, characters));
  const tail = text.slice(border(text, text.length - characters));
  const lines = text.split("\n").length;
  const cut = tokens - estimateText(head) - estimateText(tail);
  return (
    `Warning: truncated output (original token count: ${tokens})\nTotal output lines: ${lines}\n\n` +
    `${head}…${cut} tokens truncated…${tail}`
  );
}

/** Moves a cut out of the middle of a surrogate pair. */
function border(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff ? index + 1 : index;
}
