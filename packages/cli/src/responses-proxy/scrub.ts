// Takes the key out of a stream of bytes, for an upstream that repeats what it was sent.

export interface StreamScrubber {
  /** What may be passed on; the beginning of what may become the key is held back. */
  scrub(chunk: Buffer): Buffer;
  /** What was held back. */
  end(): Buffer;
}

const nothing = Buffer.alloc(0);

export function openScrubber(key: Buffer): StreamScrubber {
  // As long as the key: the answer may state its length.
  const mask = Buffer.alloc(key.length, "*");
  const beginning = key.subarray(0, 4);
  let held: Buffer = nothing;
  return {
    scrub(chunk) {
      if (held.length === 0 && !isSuspect(chunk, beginning)) return chunk;
      const joined = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const clean = joined.includes(key) ? replaceAll(joined, key, mask) : joined;
      const kept = unfinishedLength(clean, key);
      // A copy: the chunk's memory is used again.
      held = kept === 0 ? nothing : Buffer.from(clean.subarray(clean.length - kept));
      return kept === 0 ? clean : clean.subarray(0, clean.length - kept);
    },
    end: () => held,
  };
}

/** Decides for nearly every chunk with one search. */
function isSuspect(bytes: Buffer, beginning: Buffer): boolean {
  for (let at = Math.max(0, bytes.length - beginning.length + 1); at < bytes.length; at++)
    if (bytes[at] === beginning[0]) return true;
  return bytes.indexOf(beginning) >= 0;
}

function replaceAll(bytes: Buffer, key: Buffer, mask: Buffer): Buffer {
  const pieces: Buffer[] = [];
  let start = 0;
  for (let at = bytes.indexOf(key); at >= 0; at = bytes.indexOf(key, start)) {
    pieces.push(bytes.subarray(start, at), mask);
    start = at + key.length;
  }
  return Buffer.concat([...pieces, bytes.subarray(start)]);
}

/** How many bytes at the end could be the beginning of the key. */
function unfinishedLength(bytes: Buffer, key: Buffer): number {
  const first = key[0] ?? 0;
  let at = bytes.indexOf(first, Math.max(0, bytes.length - key.length + 1));
  while (at >= 0) {
    const length = bytes.length - at;
    if (bytes.compare(key, 0, length, at) === 0) return length;
    at = bytes.indexOf(first, at + 1);
  }
  return 0;
}
