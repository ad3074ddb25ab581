// Waits for a slow reader of a response.
import type { ServerResponse } from "node:http";

/** Until what was written is on its way, or the reader is gone. */
export function drained(outgoing: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off("drain", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    if (signal.aborted) return done();
    outgoing.on("drain", done);
    signal.addEventListener("abort", done);
  });
}
