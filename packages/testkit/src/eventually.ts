// Waits for what comes true later: a busy machine makes it late, never wrong.

export interface Patience {
  limitMs?: number;
  /** Shorter than usual where a moment is to be caught. */
  everyMs?: number;
}

/** Settles with what `look` answers once it neither throws nor answers false; rejects with its last words after the limit. */
export async function eventually<T>(
  look: () => T | Promise<T>,
  { limitMs = 50_000, everyMs = 10 }: Patience = {},
): Promise<Exclude<T, false>> {
  const end = performance.now() + limitMs;
  for (;;) {
    const [answer, error] = await attempt(look);
    if (error === undefined && answer !== false) return answer as Exclude<T, false>;
    if (performance.now() > end) throw error ?? new Error(`It did not come true within ${limitMs} ms: ${look}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

async function attempt<T>(look: () => T | Promise<T>): Promise<[T | undefined, unknown]> {
  try {
    return [await look(), undefined];
  } catch (error) {
    return [undefined, error ?? new Error("It threw nothing.")];
  }
}
