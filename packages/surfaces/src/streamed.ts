// Scrubs text while it streams: a secret that is split between two chunks must not be shown.
import type { Scrub } from "@agentcli/engine";

export interface StreamedText {
  /** What can be shown now, of this piece and of what was held back before. */
  add(piece: string): string;
  /** The part of the whole text that was not shown yet; empty if it does not continue what was shown. */
  rest(whole: string): string;
  /** Everything shown so far. */
  shown(): string;
  /** Including what is still held back. */
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
