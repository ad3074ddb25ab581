// Reads the first line of a stream, and leaves the rest to be read.
import type { Readable } from "node:stream";

/** Rejects if the stream ends before, or if the line is longer than allowed. */
export function readFirstLine(stream: Readable, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    const settle = (act: () => void) => {
      stream.off("readable", onReadable);
      stream.off("end", onEnd);
      stream.off("close", onEnd);
      stream.off("error", onEnd);
      act();
    };
    const onEnd = () => settle(() => reject(new Error("the stream ended before its first line.")));
    const onReadable = () => {
      for (let data = stream.read() as Buffer | null; data !== null; data = stream.read() as Buffer | null) {
        const end = data.indexOf(10);
        parts.push(end < 0 ? data : data.subarray(0, end));
        size += data.length;
        if (end < 0 && size <= maxBytes) continue;
        if (end < 0) return settle(() => reject(new Error(`its first line has more than ${maxBytes} bytes.`)));
        const rest = data.subarray(end + 1);
        return settle(() => {
          if (rest.length > 0) stream.unshift(rest);
          resolve(Buffer.concat(parts).toString("utf8"));
        });
      }
    };
    stream.on("readable", onReadable);
    stream.on("end", onEnd);
    stream.on("close", onEnd);
    stream.on("error", onEnd);
    onReadable();
  });
}
