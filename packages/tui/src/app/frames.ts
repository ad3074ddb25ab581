// When frames are drawn: at once for a key, at most thirty times a second for everything else, once a second while a turn runs, and
// never while nothing changes. A terminal that does not read gets the newest frame when it does.
import type { TerminalWriter } from "../terminal/index.ts";

export interface Frames {
  soon(): void;
  now(): void;
  /** What a key has changed: rows that stay wait for the next frame. */
  key(): void;
  close(): void;
}

const frameMs = 33;
const tickMs = 1000;

/** After a frame: there is more to draw at once, time is shown, or nothing changes by itself. */
export type AfterFrame = "again" | "tick" | "still";

/** All that is new, or only what is below the rows that stay. */
export type FrameExtent = "all" | "live";

export function openFrames(writer: TerminalWriter, draw: (extent: FrameExtent) => AfterFrame): Frames {
  let timer: NodeJS.Timeout | undefined;
  let tick: NodeJS.Timeout | undefined;
  let again: NodeJS.Immediate | undefined;
  /** Of the frame that waits for the terminal. */
  let blocked: FrameExtent | undefined;
  let isClosed = false;
  const frame = (extent: FrameExtent) => {
    clearTimeout(timer);
    timer = undefined;
    if (isClosed) return;
    if (writer.isBusy()) return wait(extent);
    clearTimeout(tick);
    clearImmediate(again);
    const after = draw(extent);
    tick = after === "tick" ? setTimeout(frame, tickMs, "all") : undefined;
    // Not in the same turn of the event loop: keys come first.
    again = after === "again" ? setImmediate(frame, "all") : undefined;
  };
  const wait = (extent: FrameExtent): void => {
    const isWaiting = blocked !== undefined;
    // A key among the reasons goes first: what else is new follows at once.
    blocked = blocked === "live" ? "live" : extent;
    if (isWaiting) return;
    writer.whenIdle(() => {
      const next = blocked ?? "all";
      blocked = undefined;
      frame(next);
    });
  };
  return {
    now: () => frame("all"),
    key: () => frame("live"),
    soon() {
      if (!isClosed) timer ??= setTimeout(frame, frameMs, "all");
    },
    close() {
      writer.flush();
      for (let after = draw("all"); after === "again"; ) after = draw("all");
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(tick);
      clearImmediate(again);
    },
  };
}
