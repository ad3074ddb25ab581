// Replaces texts in a stream of bytes by others of the same length, also where they are split or in one of the usual encodings.
import { Transform } from "node:stream";

export interface Pair {
  from: Buffer;
  /** As long as `from`. */
  to: Buffer;
}

/** As programs write a text into addresses, JSON, hexadecimal numbers and base64. `from` and `to` have one shape. */
export function pairsOf(from: string, to: string): Pair[] {
  const encodings: ((text: string) => string)[] = [
    (text) => text,
    encodeURIComponent,
    (text) => JSON.stringify(text).slice(1, -1),
    (text) => Buffer.from(text).toString("hex"),
    (text) => Buffer.from(text).toString("hex").toUpperCase(),
    ...[0, 1, 2].flatMap((before) => [
      (text: string) => base64Core(text, before, "base64"),
      (text: string) => base64Core(text, before, "base64url"),
    ]),
  ];
  const pairs = new Map(encodings.map((encode) => [encode(from), encode(to)]));
  return [...pairs]
    .filter(([one, other]) => one.length === other.length && one.length > 0)
    .map(([one, other]) => ({ from: Buffer.from(one), to: Buffer.from(other) }));
}

/** What is the same whatever stands before and after the text. */
function base64Core(text: string, before: number, encoding: "base64" | "base64url"): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
  const first = Math.ceil((before * 4) / 3);
  return bytes.toString(encoding).slice(first, Math.floor((bytes.length * 8) / 6));
}

export function replaceIn(text: string, pairs: Pair[]): string {
  const bytes = Buffer.from(text, "latin1");
  replaceAll(bytes, pairs);
  return bytes.toString("latin1");
}

/** Passes on at once what cannot be the beginning of a text: streams of events are read as they come. */
export function replacing(pairs: Pair[]): Transform {
  let held: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = Buffer.concat([held, chunk]);
      replaceAll(bytes, pairs);
      const kept = Math.max(0, ...pairs.map(({ from }) => beginningAtEnd(bytes, from)));
      held = bytes.subarray(bytes.length - kept);
      done(null, bytes.subarray(0, bytes.length - kept));
    },
    flush: (done) => done(null, held),
  });
}

/** In place. */
function replaceAll(bytes: Buffer, pairs: Pair[]): void {
  for (const { from, to } of pairs)
    for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + from.length)) to.copy(bytes, at);
}

/** How many of the last bytes could be the beginning of the text. */
function beginningAtEnd(bytes: Buffer, text: Buffer): number {
  for (let length = Math.min(text.length - 1, bytes.length); length > 0; length -= 1) {
    const at = bytes.length - length;
    if (bytes[at] === text[0] && bytes.compare(text, 0, length, at) === 0) return length;
  }
  return 0;
}
