// Pipes two connections into each other: half-close is kept, and a broken one destroys the other.
import type { Duplex } from "node:stream";

export function connectStreams(one: Duplex, other: Duplex): void {
  pipeOneWay(one, other);
  pipeOneWay(other, one);
}

export function pipeOneWay(from: Duplex, to: Duplex): void {
  from.pipe(to);
  destroyTogether(from, to);
}

function destroyTogether(from: Duplex, to: Duplex): void {
  // "close" handles a broken connection.
  from.on("error", () => {});
  from.on("close", () => {
    const endedCleanly = from.readableEnded && from.writableFinished;
    if (!endedCleanly) to.destroy();
  });
}
