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

/** `draw` returns whether time is shown. */
export function openFrames(output: Pick<WriteStream, "writableNeedDrain" | "once">, draw: () => boolean): Frames {
  let timer: NodeJS.Timeout | undefined;
  let tick: NodeJS.Timeout | undefined;
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
    tick = draw() ? setTimeout(now, tickMs) : undefined;
  };
  return {
    now,
    soon() {
      if (!isClosed) timer ??= setTimeout(now, frameMs);
    },
    close() {
      now();
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(tick);
    },
  };
}
