// Tells when the output of a process is over, though children it left behind may hold its pipes open.
export interface EndOfOutput {
  arrived(): void;
  exited(): void;
  closed(): void;
  hold(): void;
  resume(): void;
  /** No more news wanted. */
  forget(): void;
}

/** After this much silence from those left behind we stop listening. */
const silenceMs = 200;
/** And after this much chatter. */
const chatterMs = 1000;

export function awaitEndOfOutput(onEnd: () => unknown): EndOfOutput {
  let isOpen = true;
  let isHeld = false;
  let exitedAt: number | undefined;
  let arrivals = 0;
  let timer: NodeJS.Timeout | undefined;

  function listenOn(since: number): void {
    clearTimeout(timer);
    const chatterLeftMs = Math.max(0, chatterMs - (performance.now() - since));
    const before = arrivals;
    // Held output is no silence. And after a busy stretch timers run before what has arrived is read: look once more.
    const judge = () => (!isHeld && (arrivals === before || chatterLeftMs === 0) ? onEnd() : listenOn(since));
    timer = setTimeout(() => setImmediate(judge), Math.min(silenceMs, chatterLeftMs));
  }

  return {
    arrived() {
      arrivals += 1;
      if (exitedAt !== undefined) listenOn(exitedAt);
    },
    exited() {
      exitedAt = performance.now();
      if (isOpen) listenOn(exitedAt);
      else onEnd();
    },
    closed() {
      isOpen = false;
      if (exitedAt !== undefined) onEnd();
    },
    hold() {
      isHeld = true;
    },
    resume() {
      isHeld = false;
    },
    forget: () => clearTimeout(timer),
  };
}
