// Splits text into lines, and stops at a line that is too long.
export interface Lines {
  add(text: string): void;
}

export interface LineEvents {
  line(text: string): void;
  /** Called once; nothing is read after it. */
  tooLong(): void;
}

/** In characters: enough for any useful result, small enough to hold several in memory. */
export const maxLineLength = 32 * 1024 * 1024;

export function readLines(events: LineEvents, maxLength = maxLineLength): Lines {
  const pieces: string[] = [];
  let length = 0;
  let isOver = false;

  function push(piece: string): void {
    pieces.push(piece);
    length += piece.length;
    if (length <= maxLength) return;
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
