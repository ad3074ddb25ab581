// Writes to the terminal without waiting for it: one that reads slowly keeps neither keys nor the agent waiting.
import { closeSync, constants, fstatSync, openSync, readlinkSync, type Stats, writeSync } from "node:fs";

export interface TerminalWriter {
  write(text: string): void;
  /** The terminal has not taken everything yet. */
  isBusy(): boolean;
  /** Called once, when it has. */
  whenIdle(act: () => void): void;
  /** Waits for the terminal, though not for one that has been stopped. */
  flush(): void;
  /** From then on writing waits. */
  close(): void;
}

const retryMs = 2;
/** A terminal that takes nothing is asked less and less often. */
const maxRetryMs = 64;
const maxFlushMs = 2000;

/** `fd` is the terminal as the program got it; other programs have it too, so its modes stay as they are. */
export function openWriter(fd: number): TerminalWriter {
  let own = openAgain(fd);
  let rest: Buffer = Buffer.alloc(0);
  let idle: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let waitMs = retryMs;
  const pump = (): void => {
    timer = undefined;
    const before = rest.length;
    rest = written(own ?? fd, rest);
    waitMs = rest.length < before ? retryMs : Math.min(maxRetryMs, waitMs * 2);
    if (rest.length > 0) {
      timer = setTimeout(pump, waitMs);
      return;
    }
    const acts = idle;
    idle = [];
    for (const act of acts) act();
  };
  return {
    write(text) {
      rest = Buffer.concat([rest, Buffer.from(text)]);
      if (timer === undefined) pump();
    },
    isBusy: () => rest.length > 0,
    whenIdle(act) {
      if (rest.length > 0) idle.push(act);
      else act();
    },
    flush() {
      const endMs = performance.now() + maxFlushMs;
      for (; rest.length > 0 && performance.now() < endMs; rest = written(own ?? fd, rest)) sleep(retryMs);
    },
    close() {
      clearTimeout(timer);
      if (own !== null) closeSync(own);
      own = null;
    },
  };
}

/** The same terminal, opened again for writing that does not wait; null where the system does not name it. */
function openAgain(fd: number): number | null {
  try {
    const path = readlinkSync(`/proc/self/fd/${fd}`);
    const again = openSync(path, constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
    if (isSameTerminal(fstatSync(again), fstatSync(fd))) return again;
    closeSync(again);
  } catch {
    // Other systems, and terminals of other file systems: writing waits for the terminal.
  }
  return null;
}

/** Terminals of two file systems can have the same number: in a container the path may name another one. */
const isSameTerminal = (one: Stats, other: Stats): boolean =>
  one.isCharacterDevice() && one.dev === other.dev && one.ino === other.ino && one.rdev === other.rdev;

/** What the terminal does not take now. */
function written(fd: number, bytes: Buffer): Buffer {
  let at = 0;
  try {
    while (at < bytes.length) at += writeSync(fd, bytes, at);
  } catch (error) {
    // A terminal that is gone takes nothing: a signal ends the program.
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return Buffer.alloc(0);
  }
  return bytes.subarray(at);
}

const sleep = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
