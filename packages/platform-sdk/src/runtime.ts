// What comes from outside of the process: time, ids, environment variables.
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

export interface Runtime {
  variables: Record<string, string | undefined>;
  clock: Clock;
  /** A new UUID. */
  newId(): string;
}

export interface Clock {
  /** Milliseconds; only differences mean something. */
  now(): number;
  /** Rejects when aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export const processRuntime: Runtime = {
  variables: process.env,
  clock: {
    now: () => performance.now(),
    wait: (ms, signal) => delay(ms, undefined, { signal }),
  },
  newId: randomUUID,
};
