// Lines over a byte stream: one JSON object a line, bounded in size, with back pressure.
import type { Readable, Writable } from "node:stream";

/** Longer lines are refused: the other side may be hostile, and memory is ours. */
export const longestLineBytes = 64 * 1024 * 1024;

export interface LineReader {
  onLine(line: string): void;
  /** Once: after the last line, or at the first that is too long. An error of the stream counts as its end. */
  onEnd(reason: "ended" | "too-long"): void;
}

export function readLines(readable: Readable, reader: LineReader, limitBytes = longestLineBytes): void {
  let parts: Buffer[] = [];
  let size = 0;
  let isOver = false;

  function take(part: Buffer): void {
    parts.push(part);
    size += part.length;
  }

  function finishLine(): string {
    const line = Buffer.concat(parts).toString("utf8");
    parts = [];
    size = 0;
    return line;
  }

  function end(reason: "ended" | "too-long"): void {
    if (isOver) return;
    isOver = true;
    parts = [];
    reader.onEnd(reason);
  }

  readable.on("data", (data: Buffer) => {
    let start = 0;
    for (let at = data.indexOf(10); at >= 0 && !isOver; at = data.indexOf(10, start)) {
      take(data.subarray(start, at));
      start = at + 1;
      if (size > limitBytes) return end("too-long");
      reader.onLine(finishLine());
    }
    if (isOver) return;
    take(data.subarray(start));
    if (size > limitBytes) end("too-long");
  });
  readable.on("error", () => end("ended"));
  readable.on("close", () => end("ended"));
  readable.on("end", () => end("ended"));
}

export interface LineWriter {
  /** Settles when the stream takes more. After the stream has closed nothing is written and nothing waits. */
  send(value: object): Promise<void>;
}

export interface Flow {
  onFull(): void;
  onDrain(): void;
}

export function openLineWriter(writable: Writable, flow?: Flow): LineWriter {
  let drained: Promise<void> | undefined;
  // The reading side learns of the end of the connection; nothing to add here.
  writable.on("error", () => {});

  function awaitDrain(): Promise<void> {
    flow?.onFull();
    return new Promise<void>((resolve) => {
      const go = () => {
        writable.off("drain", go);
        writable.off("close", go);
        drained = undefined;
        flow?.onDrain();
        resolve();
      };
      writable.once("drain", go);
      writable.once("close", go);
    });
  }

  return {
    async send(value) {
      if (writable.destroyed || writable.writableEnded) return;
      const hasRoom = writable.write(`${JSON.stringify(value)}\n`);
      if (!hasRoom) drained ??= awaitDrain();
      await drained;
    },
  };
}
