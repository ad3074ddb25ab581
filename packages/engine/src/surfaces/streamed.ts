// Text on its way to a reader, shown as it comes: a secret cut in two by the network must not slip through.
import type { Scrub } from "../scrub.ts";

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
      const end = scrub.settled?.(held) ?? held.length;
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
