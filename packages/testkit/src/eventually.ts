// Waits for a condition: a busy machine delays it, but does not fail the test.

export interface WaitOptions {
  timeoutMs?: number;
  /** Shorter than the default where a brief state must be observed. */
  intervalMs?: number;
}

/** Resolves with the result of `check` once it neither throws nor returns false; rejects with its last error after the timeout. */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 120_000, intervalMs = 10 }: WaitOptions = {},
): Promise<Exclude<T, false>> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const [result, error] = await attempt(check);
    if (error === undefined && result !== false) return result as Exclude<T, false>;
    if (performance.now() > end)
      throw error ?? new Error(`The condition did not hold within ${timeoutMs} ms: ${check}`);
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}

async function attempt<T>(check: () => T | Promise<T>): Promise<[T | undefined, unknown]> {
  try {
    return [await check(), undefined];
  } catch (error) {
    return [undefined, error ?? new Error("It threw undefined.")];
  }
}
