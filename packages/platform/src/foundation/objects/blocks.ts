// A stream of bytes as sealed blocks, each bound to its position: none can be changed, left out or exchanged unnoticed.
import type { DataKey } from "../vault/index.ts";

export interface BlockSeal {
  key: DataKey;
  /** Names the stream. */
  about: string;
}

const blockBytes = 1024 * 1024;
const lengthBytes = 4;

export async function* sealBlocks(
  content: AsyncIterable<Uint8Array>,
  { key, about }: BlockSeal,
): AsyncGenerator<Buffer> {
  let index = 0;
  const sealed = (block: Buffer, kind: "more" | "end"): Buffer => {
    const bytes = key.seal(block, contextOf(about, index, kind));
    index += 1;
    const length = Buffer.alloc(lengthBytes);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  let waiting: Uint8Array[] = [];
  let size = 0;
  for await (const piece of content) {
    waiting.push(piece);
    size += piece.length;
    if (size < blockBytes) continue;
    yield sealed(Buffer.concat(waiting), "more");
    waiting = [];
    size = 0;
  }
  yield sealed(Buffer.concat(waiting), "end");
}

/** Throws where the bytes were changed or do not go on to the end. */
export async function* openBlocks(
  content: AsyncIterable<Uint8Array>,
  { key, about }: BlockSeal,
): AsyncGenerator<Buffer> {
  let index = 0;
  let former: Buffer | null = null;
  for await (const bytes of splitBlocks(content)) {
    if (former !== null) {
      yield key.open(former, contextOf(about, index, "more"));
      index += 1;
    }
    former = bytes;
  }
  if (former === null) throw new Error(`${about}: empty.`);
  yield key.open(former, contextOf(about, index, "end"));
}

const contextOf = (about: string, index: number, kind: "more" | "end"): string => `${about}:${index}:${kind}`;

async function* splitBlocks(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let waiting: Buffer = Buffer.alloc(0);
  for await (const piece of content) {
    waiting = waiting.length === 0 ? Buffer.from(piece) : Buffer.concat([waiting, piece]);
    while (waiting.length >= lengthBytes) {
      const end = lengthBytes + waiting.readUInt32BE(0);
      if (waiting.length < end) break;
      yield waiting.subarray(lengthBytes, end);
      waiting = waiting.subarray(end);
    }
  }
  if (waiting.length > 0) throw new Error("An object ends in the middle of a block.");
}
