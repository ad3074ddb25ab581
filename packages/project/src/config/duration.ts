// Durations as configured: 500ms, 30s, 10m, 1h, off; and a cancellable wait.
const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** The maximum of a Node timer, 24 days; a longer one would fire at once. */
export const maxTimerMs = 2 ** 31 - 1;

/** Milliseconds; null for `off`. The text has been validated by the configuration schema. */
export function durationMs(text: string): number | null {
  const [, amount, unit] = /^([\d.]+)(ms|s|m|h)$/.exec(text) ?? [];
  if (amount === undefined) return null;
  return Math.min(maxTimerMs, Math.round(Number(amount) * unitMs[unit as keyof typeof unitMs]));
}

/** Settles after the duration, or on abort. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(ms, maxTimerMs));
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}
