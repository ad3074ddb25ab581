// Tells the platform when this machine is almost out of memory, or too busy to run the worker: if the connection ends then,
// the platform knows why.
import type { WorkerHealth } from "@agentcli/protocol/worker-link";
import { availableBytes, totalBytes } from "./memory.ts";

export interface HealthSource {
  /** Of the machine, or of the limit that this process has. */
  availableBytes(): number;
  totalBytes(): number;
  /** Milliseconds that cannot be set. */
  now(): number;
}

const checkMs = 1_000;
/** A timer that is this late was not run in time. */
const lateMs = 5_000;
/** How long it counts. */
const starvedForMs = 60_000;
const minFreeShare = 0.03;

const thisMachine: HealthSource = {
  availableBytes: () => availableBytes(),
  totalBytes: () => totalBytes(),
  now: () => performance.now(),
};

/** Reads the state at each check; the first one is at its creation. */
export function healthReader({ availableBytes, totalBytes, now }: HealthSource = thisMachine): () => WorkerHealth {
  let checkedAt = now();
  let starvedUntil = 0;
  return () => {
    const at = now();
    if (at - checkedAt > checkMs + lateMs) starvedUntil = at + starvedForMs;
    checkedAt = at;
    if (availableBytes() < totalBytes() * minFreeShare) return "memory";
    return at < starvedUntil ? "starved" : "well";
  };
}

/** Reports each change until it is stopped. */
export function watchHealth(report: (state: WorkerHealth) => void, read = healthReader()): { stop(): void } {
  let last: WorkerHealth = "well";
  const timer = setInterval(() => {
    const state = read();
    if (state !== last) report(state);
    last = state;
  }, checkMs);
  return { stop: () => clearInterval(timer) };
}
