// A run that this process drives, as its readers see it: everything so far, and a sign when there is more.
import type { LocalRunEvent, LocalRunRecord } from "../local-store.ts";

export interface DrivenRun {
  readonly run: LocalRunRecord;
  /** From the first one. */
  readonly events: readonly LocalRunEvent[];
  add(events: LocalRunEvent[]): void;
  /** Settles when events are added, or with the signal. */
  more(signal: AbortSignal): Promise<void>;
  /** Ends it as cancelled; a second time changes nothing. */
  cancel(): void;
  /** Fires when it is to end. */
  readonly signal: AbortSignal;
  /** Settles when nothing of it is left running. */
  settled: Promise<void>;
}

export function openDrivenRun(run: LocalRunRecord): DrivenRun {
  const events: LocalRunEvent[] = [];
  const stopping = new AbortController();
  const waiting = new Set<() => void>();
  return {
    run,
    events,
    add(more) {
      events.push(...more);
      for (const wake of waiting) wake();
    },
    more: (signal) =>
      new Promise((resolve) => {
        const wake = () => {
          waiting.delete(wake);
          signal.removeEventListener("abort", wake);
          resolve();
        };
        waiting.add(wake);
        signal.addEventListener("abort", wake);
        if (signal.aborted) wake();
      }),
    cancel: () => stopping.abort({ end: { status: "cancelled", reason: "interrupted" } }),
    signal: stopping.signal,
    settled: Promise.resolve(),
  };
}
