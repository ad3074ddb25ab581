// Waits with an end: a timeout or an abort signal.

/** Settles with the promise, or when the time is over. */
export async function within(limitMs: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}

/** Settles when the signal aborts, and keeps the process alive until then. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  // A listener on a signal alone would let the process end.
  const alive = setInterval(() => {}, 2 ** 30);
  return new Promise((resolve) => {
    signal.addEventListener(
      "abort",
      () => {
        clearInterval(alive);
        resolve();
      },
      { once: true },
    );
  });
}
