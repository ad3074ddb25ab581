// Text on its way to a client, shown word by word: a secret cut in two by the network must not slip through.
import type { Scrub } from "../../scrub.ts";

export interface StreamedText {
  /** What may be shown now of this piece and what was held back before. */
  add(piece: string): string;
  /** What is missing when the whole text is known; nothing where that is another text. */
  rest(whole: string): string;
  /** Everything shown so far. */
  shown(): string;
  /** With what is still held back. */
  everything(): string;
}

/** A word longer than this is shown in pieces; no secret is that long. */
const longestWord = 8_192;

export function streamedText(scrub: Scrub): StreamedText {
  const pieces: string[] = [];
  let held = "";
  const show = (text: string): string => {
    if (text !== "") pieces.push(text);
    return text;
  };
  return {
    add(piece) {
      held += piece;
      const end = held.length > longestWord ? held.length - longestWord / 2 : lastSpace(held) + 1;
      const ready = held.slice(0, end);
      held = held.slice(end);
      return show(scrub(ready));
    },
    rest(whole) {
      const before = pieces.join("");
      held = "";
      return whole.startsWith(before) ? show(whole.slice(before.length)) : "";
    },
    shown: () => pieces.join(""),
    everything: () => pieces.join("") + scrub(held),
  };
}

function lastSpace(text: string): number {
  for (let at = text.length - 1; at >= 0; at -= 1) if (/\s/.test(text[at] ?? "")) return at;
  return -1;
}
