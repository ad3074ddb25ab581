// Detects the end of a process's output, even if children left behind hold its pipes open.
export interface EndOfOutput {
  arrived(): void;
  exited(): void;
  closed(): void;
  hold(): void;
  resume(): void;
  /** Stops the timer. */
  stop(): void;
}

/** Children left behind: stop reading after this long without output. */
const idleMs = 200;
/** And after this long in any case. */
const maxLingerMs = 1000;

export function awaitEndOfOutput(onEnd: () => unknown): EndOfOutput {
  let isOpen = true;
  let isHeld = false;
  let exitedAt: number | undefined;
  let arrivals = 0;
  let timer: NodeJS.Timeout | undefined;

  function rearm(since: number): void {
    clearTimeout(timer);
    const lingerLeftMs = Math.max(0, maxLingerMs - (performance.now() - since));
    const before = arrivals;
    // Paused output does not count as idle. After a busy stretch timers fire before pending data is read, hence setImmediate.
    const check = () => (!isHeld && (arrivals === before || lingerLeftMs === 0) ? onEnd() : rearm(since));
    timer = setTimeout(() => setImmediate(check), Math.min(idleMs, lingerLeftMs));
  }

  return {
    arrived() {
      arrivals += 1;
      if (exitedAt !== undefined) rearm(exitedAt);
    },
    exited() {
      exitedAt = performance.now();
      if (isOpen) rearm(exitedAt);
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
    stop: () => clearTimeout(timer),
  };
}
