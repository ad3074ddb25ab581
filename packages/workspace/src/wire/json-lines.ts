// JSON lines over a byte stream: bounded in size, with back pressure.
import type { Readable, Writable } from "node:stream";

/** Longer lines are refused: the other side may be hostile. */
export const maxLineBytes = 64 * 1024 * 1024;

export interface LineReader {
  onLine(line: string): void;
  /** Called once: after the last line, or at the first that is too long. A stream error counts as the end. */
  onEnd(reason: "ended" | "too-long"): void;
}

export function readLines(readable: Readable, reader: LineReader, limitBytes = maxLineBytes): void {
  let parts: Buffer[] = [];
  let size = 0;
  let isOver = false;

  function append(part: Buffer): void {
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
      append(data.subarray(start, at));
      start = at + 1;
      if (size > limitBytes) return end("too-long");
      reader.onLine(finishLine());
    }
    if (isOver) return;
    append(data.subarray(start));
    if (size > limitBytes) end("too-long");
  });
  readable.on("error", () => end("ended"));
  readable.on("close", () => end("ended"));
  readable.on("end", () => end("ended"));
}

export interface LineWriter {
  /** Settles when the stream accepts more. After it has closed, nothing is written and this settles at once. */
  send(value: object): Promise<void>;
}

export interface Flow {
  onFull(): void;
  onDrain(): void;
}

export function openLineWriter(writable: Writable, flow?: Flow): LineWriter {
  let drained: Promise<void> | undefined;
  // The reader reports the end of the connection.
  writable.on("error", () => {});

  function awaitDrain(): Promise<void> {
    flow?.onFull();
    return new Promise<void>((resolve) => {
      const settle = () => {
        writable.off("drain", settle);
        writable.off("close", settle);
        drained = undefined;
        flow?.onDrain();
        resolve();
      };
      writable.once("drain", settle);
      writable.once("close", settle);
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
