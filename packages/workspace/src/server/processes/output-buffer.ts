// Numbers output and keeps it for replay: at most 8 MiB, the head and the tail; the middle is only in the file, if there is one.
import type { Chunk, ExecResult } from "@agentcli/protocol";
import type { OutputFile } from "./output-file.ts";

const headCost = 4 * 1024 * 1024;
const tailCost = 4 * 1024 * 1024;
/** What a chunk costs at least, so that a flood of single characters is bounded too. */
const minCost = 64;

export interface OutputBuffer {
  lastSeq(): number;
  droppedBytes(): number;
  append(stream: Chunk["stream"], text: string): void;
  /** Replays what came after number `seq`, then tells what comes. Returns how to stop. */
  follow(seq: number, onChunk: (chunk: Chunk) => void): () => void;
  /** As soon as the output is longer than this, all of it goes to a file. Not if a part is gone already. */
  keepInFile(afterBytes: number): void;
  describeFile(): Pick<Extract<ExecResult, { state: "running" }>, "outputFile">;
}

export function openOutputBuffer(createFile: () => OutputFile | undefined): OutputBuffer {
  const head: Chunk[] = [];
  const tail: Chunk[] = [];
  const followers = new Set<(chunk: Chunk) => void>();
  let firstOfTail = 0;
  let headSize = 0;
  let tailSize = 0;
  let lastSeq = 0;
  let droppedBytes = 0;
  const kept = () => [...head, ...tail.slice(firstOfTail)];
  const file = openFileKeeper(createFile, () => (droppedBytes > 0 ? undefined : kept()));

  function keep(chunk: Chunk): void {
    const cost = costOf(chunk);
    if (tail.length === 0 && headSize + cost <= headCost) {
      head.push(chunk);
      headSize += cost;
      return;
    }
    tail.push(chunk);
    tailSize += cost;
    while (tailSize > tailCost) dropOldestOfTail();
  }

  function dropOldestOfTail(): void {
    const oldest = tail[firstOfTail];
    if (oldest === undefined) throw new Error("the tail of an output buffer has a size but no chunk");
    tailSize -= costOf(oldest);
    droppedBytes += Buffer.byteLength(oldest.text);
    firstOfTail += 1;
    // Moving the array once per 1,024 chunks keeps dropping cheap; shift() would move it every time.
    if (firstOfTail < 1024) return;
    tail.splice(0, firstOfTail);
    firstOfTail = 0;
  }

  return {
    lastSeq: () => lastSeq,
    droppedBytes: () => droppedBytes,
    append(stream, text) {
      lastSeq += 1;
      const chunk = { seq: lastSeq, stream, text };
      keep(chunk);
      file.write(text);
      for (const notify of followers) notify(chunk);
    },
    follow(seq, onChunk) {
      for (const chunk of kept()) if (chunk.seq > seq) onChunk(chunk);
      // A function of its own, so that two followers may share one callback.
      const notify = (chunk: Chunk) => onChunk(chunk);
      followers.add(notify);
      return () => void followers.delete(notify);
    },
    keepInFile: file.keepAfter,
    describeFile: file.describe,
  };
}

const costOf = (chunk: Chunk) => Math.max(minCost, Buffer.byteLength(chunk.text));

interface FileKeeper {
  /** All that is added to the buffer. */
  write(text: string): void;
  keepAfter(bytes: number): void;
  describe: OutputBuffer["describeFile"];
}

/** `readAll` is all output so far; undefined if a part of it is gone. */
function openFileKeeper(create: () => OutputFile | undefined, readAll: () => Chunk[] | undefined): FileKeeper {
  let file: OutputFile | undefined;
  let totalBytes = 0;
  let afterBytes = Number.POSITIVE_INFINITY;

  function createIfLong(): void {
    if (totalBytes <= afterBytes) return;
    afterBytes = Number.POSITIVE_INFINITY;
    const chunks = readAll();
    if (chunks === undefined) return;
    file = create();
    for (const chunk of chunks) file?.write(chunk.text);
  }

  return {
    write(text) {
      totalBytes += Buffer.byteLength(text);
      if (file === undefined) createIfLong();
      else file.write(text);
    },
    keepAfter(bytes) {
      if (file !== undefined) return;
      afterBytes = Math.min(afterBytes, bytes);
      createIfLong();
    },
    describe: () => (file === undefined ? {} : { outputFile: file.describe() }),
  };
}
