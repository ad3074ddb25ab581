// Cuts a stream of text into lines, and gives up on a line that never ends.
export interface Lines {
  add(text: string): void;
}

export interface LineEvents {
  line(text: string): void;
  /** Told once; nothing is read after it. */
  tooLong(): void;
}

/** Large enough for any result that is worth having, small enough to hold several. */
export const longestLine = 32 * 1024 * 1024;

export function readLines(events: LineEvents, longest = longestLine): Lines {
  const pieces: string[] = [];
  let length = 0;
  let isOver = false;

  function push(piece: string): void {
    pieces.push(piece);
    length += piece.length;
    if (length <= longest) return;
    isOver = true;
    pieces.length = 0;
    events.tooLong();
  }

  return {
    add(text) {
      const [first = "", ...rest] = text.split("\n");
      if (!isOver) push(first);
      for (const next of rest) {
        if (isOver) return;
        events.line(pieces.join("").replace(/\r$/, ""));
        pieces.length = 0;
        length = 0;
        push(next);
      }
    },
  };
}
