// Lets two connections talk to each other: both ways, half-closed where they are, gone together when one breaks.
import type { Duplex } from "node:stream";

export function join(one: Duplex, other: Duplex): void {
  carry(one, other);
  carry(other, one);
}

function carry(from: Duplex, to: Duplex): void {
  from.pipe(to);
  // A broken connection is told by its close; there is nobody to read more about it.
  from.on("error", () => {});
  from.on("close", () => {
    const endedWell = from.readableEnded && from.writableFinished;
    if (!endedWell) to.destroy();
  });
}
