// Durations as people write them: 500ms, 30s, 10m, 1h, off; and a wait for one.
const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** What a timer of Node can hold, 24 days; a longer one would fire at once. */
export const longestTimerMs = 2 ** 31 - 1;

/** Milliseconds; null for `off`. The text has been validated by the configuration schema. */
export function durationMs(text: string): number | null {
  const [, amount, unit] = /^([\d.]+)(ms|s|m|h)$/.exec(text) ?? [];
  if (amount === undefined) return null;
  return Math.min(longestTimerMs, Math.round(Number(amount) * unitMs[unit as keyof typeof unitMs]));
}

/** Over when it is, or with the abort. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(ms, longestTimerMs));
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}
