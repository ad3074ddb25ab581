// What of a long output is kept: whole for programs up to 8 MiB, by budget for the model; always head and tail.
import { byteLength, estimateText } from "./tokens.ts";

export const wholeOutputBytes = 8 * 1024 * 1024;

export interface OutputCollector {
  add(text: string): void;
  text(): string;
}

/** Keeps everything up to `limit` characters, then the first and the last half. Work per piece does not grow with what came before. */
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

/** The model's copy: within `maxTokens`, the middle cut out on character borders, and told so. */
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

/** Moves a cut off the middle of a surrogate pair. */
function border(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff ? index + 1 : index;
}
