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

// Over 60 lines because all of it works on one head, one tail and one file.
export function openOutputBuffer(createFile: () => OutputFile | undefined): OutputBuffer {
  const head: Chunk[] = [];
  const tail: Chunk[] = [];
  const followers = new Set<(chunk: Chunk) => void>();
  let firstOfTail = 0;
  let headSize = 0;
  let tailSize = 0;
  let lastSeq = 0;
  let droppedBytes = 0;
  let totalBytes = 0;
  let file: OutputFile | undefined;
  let fileAfterBytes = Number.POSITIVE_INFINITY;

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

  function writeToFile(text: string): void {
    file?.write(text);
    if (file !== undefined || totalBytes <= fileAfterBytes || droppedBytes > 0) return;
    file = createFile();
    fileAfterBytes = Number.POSITIVE_INFINITY;
    for (const chunk of kept()) file?.write(chunk.text);
  }

  const kept = () => [...head, ...tail.slice(firstOfTail)];

  return {
    lastSeq: () => lastSeq,
    droppedBytes: () => droppedBytes,
    append(stream, text) {
      lastSeq += 1;
      const chunk = { seq: lastSeq, stream, text };
      totalBytes += Buffer.byteLength(text);
      keep(chunk);
      writeToFile(text);
      for (const notify of followers) notify(chunk);
    },
    follow(seq, onChunk) {
      for (const chunk of kept()) if (chunk.seq > seq) onChunk(chunk);
      // A function of its own, so that two followers may share one callback.
      const notify = (chunk: Chunk) => onChunk(chunk);
      followers.add(notify);
      return () => void followers.delete(notify);
    },
    keepInFile(afterBytes) {
      if (file !== undefined) return;
      fileAfterBytes = Math.min(fileAfterBytes, afterBytes);
      writeToFile("");
    },
    describeFile: () => (file === undefined ? {} : { outputFile: file.describe() }),
  };
}

const costOf = (chunk: Chunk) => Math.max(minCost, Buffer.byteLength(chunk.text));
