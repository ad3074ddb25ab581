// Bytes as lines, each of bounded length. Longer ones are dropped, except for their beginning.

export interface LineReader {
  push(bytes: Buffer): void;
  /** No more bytes will come: an unfinished line counts as one. */
  end(): void;
}

export interface LineTaker {
  line(text: string): void;
  /** A line of more than `maxBytes`: only its beginning was kept. */
  tooLong(head: string): void;
}

const headBytes = 1024;

export function openLineReader(maxBytes: number, take: LineTaker): LineReader {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let isTooLong = false;

  function add(piece: Buffer): void {
    bytes += piece.length;
    if (!isTooLong) pieces.push(piece);
    if (isTooLong || bytes <= maxBytes) return;
    isTooLong = true;
    pieces = [Buffer.concat(pieces).subarray(0, headBytes)];
  }

  function finish(): void {
    const text = Buffer.concat(pieces).toString();
    if (isTooLong) take.tooLong(text);
    else if (text.trim() !== "") take.line(text);
    pieces = [];
    bytes = 0;
    isTooLong = false;
  }

  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
        add(chunk.subarray(from, at));
        finish();
        from = at + 1;
      }
      if (from < chunk.length) add(chunk.subarray(from));
    },
    end: () => {
      if (bytes > 0) finish();
    },
  };
}
