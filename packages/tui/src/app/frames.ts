// When frames are drawn: at once for a key, at most thirty times a second for everything else, once a second while a turn runs, and
// never while nothing changes. A terminal that does not read gets the newest frame when it does.
import type { WriteStream } from "node:tty";

export interface Frames {
  soon(): void;
  now(): void;
  close(): void;
}

const frameMs = 33;
const tickMs = 1000;

/** After a frame: there is more to draw at once, time is shown, or nothing changes by itself. */
export type AfterFrame = "again" | "tick" | "still";

export function openFrames(output: Pick<WriteStream, "writableNeedDrain" | "once">, draw: () => AfterFrame): Frames {
  let timer: NodeJS.Timeout | undefined;
  let tick: NodeJS.Timeout | undefined;
  let again: NodeJS.Immediate | undefined;
  let isBlocked = false;
  let isClosed = false;
  const now = () => {
    clearTimeout(timer);
    timer = undefined;
    if (isClosed || isBlocked) return;
    if (output.writableNeedDrain) {
      isBlocked = true;
      output.once("drain", () => {
        isBlocked = false;
        now();
      });
      return;
    }
    clearTimeout(tick);
    clearImmediate(again);
    const after = draw();
    tick = after === "tick" ? setTimeout(now, tickMs) : undefined;
    // Not in the same turn of the event loop: keys come first.
    again = after === "again" ? setImmediate(now) : undefined;
  };
  return {
    now,
    soon() {
      if (!isClosed) timer ??= setTimeout(now, frameMs);
    },
    close() {
      now();
      while (again && !isBlocked) now();
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(tick);
      clearImmediate(again);
    },
  };
}
